import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MessageChannel, type MessagePort, parentPort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { SeedGenerate } from '../format.js'
import type { Environment } from './channels.js'
import { type GeneratedMessage, generation } from './generation.js'

/** A message whose document is in UTF-8 already, unless it is a large one. It is good until the next one is asked for. */
export type EncodedMessage = Omit<GeneratedMessage, 'document'> & { document: Buffer | string }

/** Beside the bundle, which the build makes together with it. Run from its source the server has no thread. */
const FILE = join(dirname(import.meta.filename), 'generate-thread.cjs')

/** Some messages: `facts` are all but their documents, `ends` where each document ends. */
interface Batch {
  facts: (string | number)[]
  ends: number[]
  /** The document of a message that is alone in its batch, being too large for the room. */
  large?: string
}

/** So many of each message. */
const FACTS = 6

/** What the thread says: a batch, that there are no more, or why it failed. */
type Said = Batch | 'end' | Error

interface Work {
  environment: Environment
  options: SeedGenerate
  now: number
  port: MessagePort
  /** Rooms for the documents of a batch each, used in turn. */
  rooms: SharedArrayBuffer
  /** How many batches have been said, and how many are done with. */
  counts: Int32Array
}

const SAID = 0
const DONE = 1

/** Bytes for the documents of a batch: some thirty messages. */
const ROOM = 1 << 16
/** Batches that may wait. */
const ROOMS = 64

/** A caller that waits is woken for so many: to wake it takes as long as to make a few messages. */
const AT_ONCE = 8

/** How long a batch may take, in milliseconds: it takes one. */
const PATIENCE = 30_000

/** For fewer it would be started in vain. */
const FEWEST = 20_000

export function isWorthThread({ messages }: Pick<SeedGenerate, 'messages'>): boolean {
  return messages >= FEWEST && existsSync(FILE)
}

let ready: Worker | undefined

/** Starts the thread ahead of its work, where it is known that there will be some: that takes a tenth of a second. */
export function startThread(): void {
  ready ??= newThread()
}

function newThread(): Worker {
  const thread = new Worker(FILE)
  thread.unref()
  return thread
}

/**
 * The messages of `generation`, made and encoded in a thread of its own while the caller stores those before: to make
 * and to encode them is a third of the time that seeding many takes. The caller is blocked while it waits for one.
 */
export function* generatedInThread(
  environment: Environment,
  options: SeedGenerate,
  now: number
): Generator<EncodedMessage, void, undefined> {
  const { port1: port, port2 } = new MessageChannel()
  const rooms = new SharedArrayBuffer(ROOM * ROOMS)
  const counts = new Int32Array(new SharedArrayBuffer(8))
  const work: Work = { environment: plain(environment), options, now, port: port2, rooms, counts }
  const thread = ready ?? newThread()
  ready = undefined
  try {
    thread.postMessage(work, [port2])
    for (let done = 0; ; done++) {
      const said = next(port, counts, done)
      if (said === 'end') return
      if (said instanceof Error) throw said
      if (said.large !== undefined) yield messageOf(said.facts, 0, said.large)
      const room = roomOf(rooms, done)
      let start = 0
      let place = 0
      for (const end of said.ends) {
        yield messageOf(said.facts, place, room.subarray(start, end))
        start = end
        place += FACTS
      }
      Atomics.store(counts, DONE, done + 1)
      Atomics.notify(counts, DONE)
    }
  } finally {
    port.close()
    void thread.terminate()
  }
}

/** What the thread works on, without what can't be sent to it. */
function plain({ id, organizationId, name, integrations, subscribers, workflows, steps, messages }: Environment) {
  return { id, organizationId, name, integrations, subscribers, workflows, steps, messages }
}

function roomOf(rooms: SharedArrayBuffer, batch: number): Buffer {
  return Buffer.from(rooms, (batch % ROOMS) * ROOM, ROOM)
}

/** Events of a thread are not told while the caller is blocked, so what it says is looked for. */
function next(port: MessagePort, counts: Int32Array, done: number): Said {
  for (;;) {
    const received = receiveMessageOnPort(port)
    if (received) return received.message
    if (Atomics.wait(counts, SAID, done, PATIENCE) === 'timed-out') {
      throw new Error(`the thread that generates messages has said nothing for ${PATIENCE / 1000} s`)
    }
  }
}

function messageOf(facts: Batch['facts'], place: number, document: Buffer | string): EncodedMessage {
  return {
    id: facts[place],
    createdAt: facts[place + 1],
    channel: facts[place + 2],
    subscriberId: facts[place + 3],
    transactionId: facts[place + 4],
    context: facts[place + 5],
    document
  } as EncodedMessage
}

/** What the thread does, once it is told to. */
export function awaitWork(): void {
  parentPort?.once('message', work)
}

function work({ environment, options, now, port, rooms, counts }: Work): void {
  let batch: Batch = { facts: [], ends: [] }
  let room = roomOf(rooms, 0)
  let end = 0
  try {
    for (const message of generation(environment, options, now).messages()) {
      const { id, createdAt, channel, subscriberId, transactionId, context, document } = message
      // No character of UTF-16 takes more than three bytes.
      const most = document.length * 3
      if (end > 0 && end + most > ROOM) handOver()
      batch.facts.push(id, createdAt, channel, subscriberId, transactionId, context)
      if (most > ROOM) {
        batch.large = document
        handOver()
      } else {
        end += room.write(document, end)
        batch.ends.push(end)
      }
    }
    handOver()
    say('end')
  } catch (error) {
    say(error as Error)
  }

  function handOver(): void {
    const said = say(batch)
    for (let done = Atomics.load(counts, DONE); said - done >= ROOMS; done = Atomics.load(counts, DONE)) {
      Atomics.wait(counts, DONE, done)
    }
    batch = { facts: [], ends: [] }
    room = roomOf(rooms, said)
    end = 0
  }

  /** How many have been said, with it. */
  function say(said: Said): number {
    port.postMessage(said)
    const count = Atomics.add(counts, SAID, 1) + 1
    if (count % AT_ONCE === 0 || said === 'end' || said instanceof Error) Atomics.notify(counts, SAID)
    return count
  }
}
