-- Launches by what the kernels do, inferred from their names.
SELECT family_of, family, COUNT(*) AS launches, SUM(dur_ns) AS total_ns, COUNT(DISTINCT kernel_full) AS kernels
FROM launches
WHERE status = 0 AND NOT captured
GROUP BY family_of, family
ORDER BY launches DESC, family_of NULLS LAST, family NULLS LAST
