/** Java threads that launch through JNI, while others compute, allocate and dereference null. */
public final class Launches {
    static native int begin();

    static native int launch(int times);

    static String nothing;

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        begin();
        Thread[] threads = new Thread[8];
        int[] caught = new int[threads.length];
        for (int t = 0; t < threads.length; t++) {
            int number = t;
            threads[t] = new Thread(() -> {
                StringBuilder kept = new StringBuilder();
                for (int i = 0; i < 50; i++) {
                    launch(10);
                    for (int j = 0; j < 2000; j++) {
                        kept.append(new byte[100].length);
                        kept.setLength(kept.length() % 1000);
                    }
                    try {
                        kept.append(nothing.length());
                    } catch (NullPointerException expected) {
                        caught[number]++;
                    }
                }
            });
            threads[t].start();
        }
        int all = 0;
        for (int t = 0; t < threads.length; t++) {
            threads[t].join();
            all += caught[t];
        }
        System.out.println("failed " + launch(0) + ", caught " + all);
    }
}
