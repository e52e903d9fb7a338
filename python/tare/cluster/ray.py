"""Plans on Ray."""


def run(plan, *, retries=3, threads=1, **options):
    """Runs the tasks of a plan that have not been done on Ray, and finishes it here.

    retries  how often a task is run again whose worker was lost
    threads  of one task, which is as many CPUs as it asks for
    options  of ray.remote: num_cpus, resources, ...
    """
    import ray

    @ray.remote(**{"max_retries": retries, "num_cpus": threads, **options})
    def work(task, threads):
        return task.run(threads=threads)

    ray.get([work.remote(task, threads) for task in plan.missing()])
    return plan.finish()
