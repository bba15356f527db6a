-- Kernels that some runs of the dataset launch and others do not.
WITH kernels AS (
  SELECT DISTINCT run, kernel_full FROM launches WHERE status = 0 AND NOT captured
),
counted AS (
  SELECT kernel_full, COUNT(*) AS runs, MIN(run) AS first_run FROM kernels GROUP BY kernel_full
)
SELECT kernel_full, runs, first_run
FROM counted
WHERE runs < (SELECT COUNT(DISTINCT run) FROM kernels)
ORDER BY kernel_full
