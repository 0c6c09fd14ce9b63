export type Enqueue = ReturnType<typeof environmentQueue>

/** Returns a function that runs the work when all earlier work for the same environment is done, by its key. */
export function environmentQueue() {
  const queues = new Map<number, Promise<unknown>>()

  return async <Result>(key: number, work: () => Promise<Result>): Promise<Result> => {
    const task = (queues.get(key) ?? Promise.resolve()).then(work, work)
    queues.set(key, task)
    try {
      return await task
    } finally {
      if (queues.get(key) === task) queues.delete(key)
    }
  }
}
