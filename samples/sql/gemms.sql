-- GEMMs by problem, and the kernel that served each.
SELECT library, function, trans_a, trans_b, m, n, k, batch, a_type, compute, kernel, COUNT(*) AS calls,
       SUM(dur_ns) AS total_ns, SUM(launches) AS launches
FROM gemms
GROUP BY library, function, trans_a, trans_b, m, n, k, batch, a_type, compute, kernel
ORDER BY calls DESC, library, function, m NULLS LAST, n NULLS LAST, k NULLS LAST, kernel NULLS LAST
