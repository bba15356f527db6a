-- For each rank: median over steps of its time outside of collectives and in them, on the GPU where
-- that was recorded, as `rocshim ranks` prints them. The slowest come first: the others wait for them.
WITH calls AS (
  SELECT run, rank, communicator, step, sequence,
         COALESCE(gpu_begin_ns, begin_ns) AS began, COALESCE(gpu_end_ns, done_ns) AS ended
  FROM collectives
),
ordered AS (
  SELECT run, rank, communicator, step, began, ended,
         LAG(ended) OVER (PARTITION BY run, rank, communicator ORDER BY sequence) AS last_ended
  FROM calls
),
steps AS (
  SELECT run, rank, communicator, step,
         SUM(CASE WHEN began > last_ended THEN began - last_ended ELSE 0 END) AS own_ns,
         SUM(ended - CASE WHEN began > last_ended THEN began ELSE last_ended END) AS in_ns
  FROM ordered
  WHERE step IS NOT NULL
  GROUP BY run, rank, communicator, step
  HAVING COUNT(*) = COUNT(last_ended) AND COUNT(*) = COUNT(ended)
)
SELECT run, rank, communicator, COUNT(*) AS steps,
       PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY own_ns) AS own_ns,
       PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY in_ns) AS in_ns
FROM steps
GROUP BY run, rank, communicator
ORDER BY own_ns DESC, rank NULLS LAST, communicator
