// Goroutines that launch through cgo, more of them than threads, while others compute and allocate:
// the run-time system preempts them with signals, moves them between threads and collects garbage.
package main

/*
#cgo CFLAGS: -D_GNU_SOURCE=
#include "launching.h"

static hipFunction_t f;
static int begin(void) { f = kernel("of_a_goroutine"); return failed; }
static int launches(int times) { launch(f, times); return failed; }
*/
import "C"

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
)

func main() {
	if len(os.Args) > 1 { // a child, which launches too
		fmt.Println("child: failed", C.begin()+C.launches(100))
		return
	}
	C.begin()
	var all sync.WaitGroup
	sums := make([]int, 16)
	for g := range sums {
		all.Add(2)
		go func() {
			defer all.Done()
			for i := 0; i < 50; i++ {
				C.launches(10)
			}
		}()
		go func() {
			defer all.Done()
			for i := 0; i < 2000; i++ {
				kept := make([]byte, 4096+i)
				for j := range kept {
					sums[g] += j & len(kept)
				}
			}
		}()
	}
	all.Wait()
	child, err := exec.Command(os.Args[0], "child").Output()
	fmt.Print("failed ", C.launches(0), ", computed ", sums[0] == sums[15], ", ", string(child))
	if err != nil {
		fmt.Println(err)
	}
}
