-- Kernels that less than half of a run's ranks launch, with the ranks that do.
WITH of_ranks AS (
  SELECT DISTINCT run, rank, kernel_full FROM launches WHERE rank IS NOT NULL AND status = 0
),
all_ranks AS (
  SELECT run, COUNT(DISTINCT rank) AS ranks FROM of_ranks GROUP BY run
),
rare AS (
  SELECT run, kernel_full, COUNT(*) AS launched_by FROM of_ranks GROUP BY run, kernel_full
)
SELECT of_ranks.run, of_ranks.rank, of_ranks.kernel_full, rare.launched_by, all_ranks.ranks
FROM of_ranks
JOIN rare ON of_ranks.run = rare.run AND of_ranks.kernel_full = rare.kernel_full
JOIN all_ranks ON of_ranks.run = all_ranks.run
WHERE 2 * rare.launched_by < all_ranks.ranks
ORDER BY of_ranks.run, of_ranks.rank, of_ranks.kernel_full
