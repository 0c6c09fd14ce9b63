/** Limits how many tasks run at the same time. Further tasks wait in the order of their arrival. */
export class Slots {
  #freeCount: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#freeCount = count
  }

  /** Resolves when there is a free slot. The caller must give it back with `release`. */
  async take(): Promise<void> {
    if (this.#freeCount === 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
      return
    }
    this.#freeCount -= 1
  }

  release(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#freeCount += 1
  }
}
