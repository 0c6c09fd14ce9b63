/** Counts bytes up to a limit. If `whole` is set, the bytes also count toward that larger limit. */
export class SizeLimit {
  readonly #whole: SizeLimit | undefined
  #left: number

  constructor(bytes: number, whole?: SizeLimit) {
    this.#left = bytes
    this.#whole = whole
  }

  /** The number of bytes that still fit. */
  get left(): number {
    return Math.min(this.#left, this.#whole?.left ?? Infinity)
  }

  /** Counts the text's bytes if they fit within the limit. Returns whether they do. */
  take(text: string): boolean {
    const bytes = Buffer.byteLength(text)
    if (bytes > this.#left || this.#whole?.take(text) === false) return false
    this.#left -= bytes
    return true
  }
}
