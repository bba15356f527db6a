-- Passes of each phase and the time that they took; phases are inferred.
SELECT run, host, pid, phase, COUNT(*) AS passes, SUM(dur_ns) AS total_ns, MIN(begin_ns) AS begin_ns
FROM phases
GROUP BY run, host, pid, phase
ORDER BY run, host, pid, begin_ns, phase
