/** The maximum number of bytes that are kept of each response body. */
export const MAX_RESPONSE_BODY = 16 * 1024
const BLOCK_SIZE = 64 * 1024
/** 16 MiB. */
const MAX_BLOCKS_PER_JOURNAL = 256
/** 128 MiB. */
const MAX_BLOCKS_PER_SERVER = 2048

interface Block {
  /** Undefined after the memory has been reused for later responses. */
  bytes: Buffer | undefined
  used: number
  owner: ResponseStore
}

/** Where a response body, or the start of a long body, is stored. */
export interface StoredBody {
  block: Block
  start: number
  end: number
}

/** The blocks of all response stores in a server, oldest first. */
export class BlockPool {
  readonly #blocks = new Set<Block>()

  get isFull(): boolean {
    return this.#blocks.size >= MAX_BLOCKS_PER_SERVER
  }

  oldest(): Block | undefined {
    const [block] = this.#blocks
    return block
  }

  add(block: Block): void {
    this.#blocks.add(block)
  }

  remove(block: Block): void {
    this.#blocks.delete(block)
  }
}

/**
 * Keeps the response bodies of one journal. Bodies are copied into blocks. When the memory is full,
 * the oldest block is reused. Keeping references to the sent buffers instead would reduce the
 * throughput of message lists by a third, because the buffers would stay in memory for a long time.
 */
export class ResponseStore {
  readonly #pool: BlockPool
  /** Oldest first. */
  readonly #blocks = new Set<Block>()
  #current: Block | undefined
  #last: StoredBody | undefined

  constructor(pool: BlockPool) {
    this.#pool = pool
  }

  /**
   * Stores a body, or the start of a long body. A body that equals the previous one isn't stored
   * again, which saves memory when a client polls.
   */
  keep(body: Buffer): StoredBody {
    const length = Math.min(body.length, MAX_RESPONSE_BODY)
    if (this.#last && this.#isLast(this.#last, body, length)) return this.#last
    const { block, bytes } = this.#blockFor(length)
    const start = block.used
    body.copy(bytes, start, 0, length)
    block.used += length
    this.#last = { block, start, end: block.used }
    return this.#last
  }

  /** Forgets all bodies. */
  clear(): void {
    for (const block of this.#blocks) this.#release(block)
    this.#last = undefined
  }

  #isLast({ block, start, end }: StoredBody, body: Buffer, length: number): boolean {
    if (!block.bytes || end - start !== length) return false
    return block.bytes.compare(body, 0, length, start, end) === 0
  }

  #blockFor(length: number): { block: Block; bytes: Buffer } {
    const current = this.#current
    if (current?.bytes && current.used + length <= BLOCK_SIZE) {
      return { block: current, bytes: current.bytes }
    }
    const bytes = this.#reusableBytes() ?? Buffer.allocUnsafeSlow(BLOCK_SIZE)
    const block: Block = { bytes, used: 0, owner: this }
    this.#blocks.add(block)
    this.#pool.add(block)
    this.#current = block
    return { block, bytes }
  }

  /**
   * If the store or the server has reached its limit, releases the oldest block and returns its
   * memory.
   */
  #reusableBytes(): Buffer | undefined {
    const oldest = this.#oldestToReuse()
    return oldest === undefined ? undefined : oldest.owner.#release(oldest)
  }

  #oldestToReuse(): Block | undefined {
    if (this.#blocks.size >= MAX_BLOCKS_PER_JOURNAL) {
      const [oldest] = this.#blocks
      return oldest
    }
    return this.#pool.isFull ? this.#pool.oldest() : undefined
  }

  /** Drops the bodies in a block and returns its memory. */
  #release(block: Block): Buffer | undefined {
    const { bytes } = block
    this.#blocks.delete(block)
    this.#pool.remove(block)
    block.bytes = undefined
    return bytes
  }
}

/** Returns the stored bytes, or undefined if their memory was reused for later responses. */
export function storedBytes({ block, start, end }: StoredBody): Buffer | undefined {
  return block.bytes?.subarray(start, end)
}
