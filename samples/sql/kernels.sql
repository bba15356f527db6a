-- Launches of each kernel and the host time of their calls, as `rocshim summary` counts them.
SELECT kernel_full, kernel, COUNT(*) AS launches, SUM(dur_ns) AS total_ns, MAX(dur_ns) AS longest_ns,
       SUM(gpu_dur_ns) AS gpu_total_ns
FROM launches
WHERE status = 0 AND NOT captured
GROUP BY kernel_full, kernel
ORDER BY launches DESC, kernel_full NULLS LAST
