/** The maximum total length, in characters, of the control requests that a journal keeps. */
const MAX_CHARACTERS = 8 * 1024 * 1024

/** A control request that changed the environment, as the client sent it. */
export interface ControlRequest {
  /** The sequence number of the last API request before this control request. */
  after: number
  /** The time that the request read from the environment's clock, in milliseconds. */
  time: number
  method: string
  url: string
  /** JSON, or the text of a seed. */
  body: string
}

/**
 * Keeps the control requests that changed an environment, so that `notification-mock open` can
 * repeat them.
 */
export class ControlRequestLog {
  #requests: ControlRequest[] = []
  #characters = 0
  #forgotten = 0

  /**
   * The number of changes that `list` doesn't contain: control requests that were dropped, and
   * changes that weren't made by a control request.
   */
  get forgotten(): number {
    return this.#forgotten
  }

  /** The number of all changes, including the changes that `list` doesn't contain. */
  get total(): number {
    return this.#requests.length + this.#forgotten
  }

  /** The total length of the stored requests, in characters. */
  get size(): number {
    return this.#characters
  }

  /**
   * Stores the control request that made a change. If no control request made the change, or the
   * log is full, only counts the change.
   */
  add(request: ControlRequest | undefined): void {
    const length = request === undefined ? 0 : request.url.length + request.body.length
    if (request === undefined || this.#characters + length > MAX_CHARACTERS) {
      this.#forgotten += 1
      return
    }
    this.#characters += length
    this.#requests.push(request)
  }

  list(): readonly ControlRequest[] {
    return this.#requests
  }

  clear(): void {
    this.#forgotten = this.total
    this.#characters = 0
    this.#requests = []
  }
}
