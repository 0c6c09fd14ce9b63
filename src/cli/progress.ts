export type Progress = ReturnType<typeof progressOn>

/** How often the line is rewritten, in milliseconds. */
const INTERVAL = 100

/** Shows on a terminal how far a long task is, until `end` clears the line; writes nothing to a pipe or a file. */
export function progressOn(stream: NodeJS.WriteStream, total: number) {
  const started = performance.now()
  let last = started
  return {
    update(done: number): void {
      const now = performance.now()
      if (!stream.isTTY || now - last < INTERVAL) return
      last = now
      stream.write(`\r${formatProgress(done, total, (now - started) / 1000)}\x1b[K`)
    },
    end: (): void => void (stream.isTTY && stream.write('\r\x1b[K'))
  }
}

/** `412,000 of 1,000,000 messages, 58,000 a second, 10 s left` */
export function formatProgress(done: number, total: number, seconds: number): string {
  const rate = done / seconds
  const [made, all, speed] = [done, total, Math.round(rate)].map((count) => count.toLocaleString('en'))
  return `${made} of ${all} messages, ${speed} a second, ${Math.ceil((total - done) / rate)} s left`
}
