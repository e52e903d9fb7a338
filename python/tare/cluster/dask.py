"""Plans on Dask."""


def _work(task, threads):
    return task.run(threads=threads)


def run(plan, client=None, *, retries=3, threads=1):
    """Runs the tasks of a plan that have not been done on Dask, and finishes it here.

    client   a distributed.Client; by default the current one
    retries  how often a task is run again that failed; one whose worker was lost is always run again
    """
    from distributed import get_client

    client = client or get_client()
    futures = [client.submit(_work, task, threads, pure=False, retries=retries) for task in plan.missing()]
    client.gather(futures)
    return plan.finish()
