/** Tells on a terminal how far a long work is; says nothing to a pipe or a file. */
export interface Progress {
  tell(done: number): void
  /** Clears the line. */
  end(): void
}

/** How often the line is written anew, in milliseconds. */
const EVERY = 100

export function progressOn(stream: NodeJS.WriteStream, total: number): Progress {
  if (!stream.isTTY) return { tell() {}, end() {} }
  const started = performance.now()
  let last = started
  return {
    tell(done) {
      const now = performance.now()
      if (now - last < EVERY) return
      last = now
      stream.write(`\r${lineOf(done, total, (now - started) / 1000)}\x1b[K`)
    },
    end: () => void stream.write('\r\x1b[K')
  }
}

/** `412,000 of 1,000,000 messages, 58,000 a second, 10 s left` */
export function lineOf(done: number, total: number, seconds: number): string {
  const rate = done / seconds
  const left = Math.ceil((total - done) / rate)
  return `${grouped(done)} of ${grouped(total)} messages, ${grouped(Math.round(rate))} a second, ${left} s left`
}

/** Not by the machine's language, in which the rest is not. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}
