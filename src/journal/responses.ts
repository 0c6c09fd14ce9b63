/** In bytes: what is kept of an answer, and a block of answers. */
const MAX_ANSWER = 16 * 1024
const BLOCK = 64 * 1024
/** 16 MiB for a journal, 128 for all of them. */
const MAX_BLOCKS = { journal: 256, server: 2048 }

interface Block {
  /** Undefined once it was taken for later answers. */
  bytes: Buffer | undefined
  used: number
  /** All blocks of its journal, oldest first. */
  siblings: Set<Block>
}

/** The body of an answer, or its beginning. */
export interface KeptAnswer {
  block: Block
  start: number
  end: number
}

export type AnswerStore = ReturnType<ReturnType<typeof createAnswers>>

/**
 * Returns what makes a store of answers for each journal. Answers are copied into blocks, of which the oldest are taken for
 * later ones: the buffers that were sent would survive until the journal forgets them, which costs a list a third more.
 */
export function createAnswers() {
  const all = new Set<Block>()

  function take(block: Block): Buffer | undefined {
    const { bytes } = block
    for (const blocks of [all, block.siblings]) blocks.delete(block)
    block.bytes = undefined
    return bytes
  }

  return () => {
    const own = new Set<Block>()
    let current: Block | undefined
    let last: KeptAnswer | undefined

    function nextBlock(): Block {
      const [oldest] =
        own.size === MAX_BLOCKS.journal ? own : all.size === MAX_BLOCKS.server ? all : []
      const bytes = (oldest && take(oldest)) ?? Buffer.allocUnsafeSlow(BLOCK)
      const block = { bytes, used: 0, siblings: own }
      for (const blocks of [all, own]) blocks.add(block)
      return block
    }

    return {
      /** Keeps an answer, or its beginning; what is the same as the one before it, as when a client polls, only once. */
      keep(answer: Buffer): KeptAnswer {
        const length = Math.min(answer.length, MAX_ANSWER)
        if (last?.block.bytes && last.block === current && last.end - last.start === length) {
          if (last.block.bytes.compare(answer, 0, length, last.start, last.end) === 0) return last
        }
        if (!current?.bytes || current.used + length > BLOCK) current = nextBlock()
        const start = current.used
        current.used += length
        answer.copy(current.bytes as Buffer, start, 0, length)
        last = { block: current, start, end: current.used }
        return last
      },

      /** Lets go of all answers. */
      clear(): void {
        for (const block of own) take(block)
        last = undefined
      }
    }
  }
}

/** Returns what is kept of an answer; undefined once it was dropped for later ones. */
export const bytesOfAnswer = ({ block, start, end }: KeptAnswer): Buffer | undefined =>
  block.bytes?.subarray(start, end)
