"""Numbers from rounds: medians with their spread, and which of a run's bursts count."""
import statistics


def spread(values):
    """The median of what the rounds gave, the middle half of them, and all of them."""
    quartiles = statistics.quantiles(values, method="inclusive") if len(values) > 1 else values * 3
    return {"median": statistics.median(values), "q1": quartiles[0], "q3": quartiles[2], "min": min(values), "max": max(values), "rounds": values}


def over_rounds(rounds, formula):
    """The median and spread of what the rounds give; None when none gives anything."""
    values = []
    for each in rounds:
        try:
            values.append(formula(each))
        except KeyError:
            pass
    return spread(values) if values else None


class Round:
    """The figures of one round, for formulas. KeyError: it has none, its run was slow or left out."""

    def __init__(self, figures, number):
        self.figures, self.number = figures, number

    def of(self, workload, variant):
        return self.figures[workload][variant][self.number]

    def per_call(self, workload, variant):
        return self.of(workload, variant)["ns"]

    def added(self, workload, variant):
        return self.per_call(workload, variant) - self.bare(workload)

    def bare(self, workload):
        """Of this round, or where it has none, the median of all: a few nanoseconds either way."""
        runs = self.figures[workload]["bare"]
        return runs[self.number].get("ns") or statistics.median(run["ns"] for run in runs if "ns" in run)

    def tail(self, variant, percentile):
        return self.of("tail", variant)[percentile]


def rounds_of(figures):
    runs = next(iter(next(iter(figures.values())).values()))
    return [Round(figures, number) for number in range(len(runs))]


def keep_full_speed(figures):
    """Gives each run its median burst, of those in which the machine ran at full speed: a core that is clocked down, or
    shared, would otherwise make one variant dearer than another. Gives the share of bursts that were kept."""
    timed = [runs for of_workload in figures.values() for runs in of_workload.values() if "bursts" in runs[0]]
    gauges = sorted(gauge for runs in timed for run in runs for _, gauge in run["bursts"])
    if not gauges:
        return 1
    limit = gauges[len(gauges) // 20] * 1.12
    for runs in timed:
        kept = [[ns for ns, gauge in run["bursts"] if gauge <= limit] for run in runs]
        if not any(kept):  # never at full speed: better than nothing
            kept = [[ns for ns, _ in run["bursts"]] for run in runs]
        for run, times in zip(runs, kept):
            run["bursts"] = times
            if times:
                run["ns"] = statistics.median(times)
    return sum(gauge <= limit for gauge in gauges) / len(gauges)
