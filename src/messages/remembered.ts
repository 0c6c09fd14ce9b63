import type { Database } from 'better-sqlite3'

/** Which end of the list a page is counted off from. */
export type PageEnd = 'newest' | 'oldest'

/** From one anchor to the next, in messages. */
export const ANCHOR_DISTANCE = 1000

/** A message by its place, counted from 0 at one end of a list. */
export interface Anchor {
  place: number
  createdAt: number
  id: string
}

/** A list is the messages of a dataset that meet some conditions, which `conditions` tells from all others. */
export interface List {
  dataset: number
  conditions: string
}

/**
 * What it costs to find out about a list, remembered until messages of its dataset come, go or change, whoever
 * changes them, by cascade and in a transaction that is rolled back too: all is in temporary tables, which are rolled
 * back with it.
 *
 * A dataset's mark is the greatest sequence there was when it was last looked at. A new message has a greater one
 * than all before, so where there is a new one it is among those above the mark; to look through these again and again
 * would take long, so the mark then rises. When a message goes or changes a trigger drops the mark of its dataset,
 * and with it all that hangs on it; and as the sequences of the last ones that go are given again, no mark stays above
 * the greatest. (A trigger on INSERT would make seeding slower by a fifth, an index by (dataset, sequence) by 5 to 8 %.)
 */
export function rememberedLists(client: Database) {
  client.exec(TABLES)
  const known = client.prepare<[number, string], { key: number; total: number | null }>(
    `SELECT key, total FROM message_marks AS mark CROSS JOIN message_lists AS list ON list.dataset = mark.dataset
    WHERE mark.dataset = ? AND mark.sequence = ${GREATEST} AND conditions = ?`
  )
  const marked = client.prepare<[number], { mark: number; greatest: number }>(
    `SELECT sequence AS mark, ${GREATEST} AS greatest FROM message_marks WHERE dataset = ?`
  )
  const mark = client.prepare<[number]>(
    `INSERT INTO message_marks VALUES (?, ${GREATEST}) ON CONFLICT DO UPDATE SET sequence = excluded.sequence`
  )
  const unmark = client.prepare<[number]>('DELETE FROM message_marks WHERE dataset = ?')
  const unmarkAll = client.prepare('DELETE FROM message_marks')
  const hasNew = client.prepare<[number, number]>('SELECT 1 FROM messages WHERE sequence > ? AND dataset = ? LIMIT 1')
  const worth = client
    .prepare<[number], number | null>(
      `SELECT max(max(ifnull(total, 0), ifnull((SELECT max(place) FROM message_anchors WHERE list = key), 0)))
      FROM message_lists WHERE dataset = ?`
    )
    .pluck()
  const remember = client
    .prepare<[number, string, number | null], number>(
      `INSERT INTO message_lists (dataset, conditions, total) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET total = excluded.total RETURNING key`
    )
    .pluck()
  const nearest = client.prepare<[number, PageEnd, number], Anchor>(
    `SELECT place, created_at AS createdAt, id FROM message_anchors WHERE list = ? AND counted_from = ? AND place <= ?
    ORDER BY place DESC LIMIT 1`
  )
  const drop = client.prepare<[number, PageEnd, number, number, string]>(
    'INSERT INTO message_anchors VALUES (?, ?, ?, ?, ?)'
  )
  let size = 0

  return {
    /** How many messages the list has, counted if it isn't known. */
    total({ dataset, conditions }: List, count: () => number): number {
      const total = find(dataset, conditions)?.total
      if (total !== undefined && total !== null) return total
      const fresh = count()
      keep(dataset, conditions, fresh)
      return fresh
    },

    /**
     * A message of the list at most a thousand places before this one. `advance` tells the one a thousand places
     * after another, or after the first one of that end, and undefined if the list is over by then. Each is remembered,
     * so that a way through the list is gone but once.
     */
    anchor(
      { dataset, conditions }: List,
      from: PageEnd,
      place: number,
      advance: (from: Anchor | undefined) => Omit<Anchor, 'place'> | undefined
    ): Anchor | undefined {
      return client.transaction(() => {
        const list = find(dataset, conditions)?.key ?? keep(dataset, conditions, null)
        let anchor = nearest.get(list, from, place)
        while (place - (anchor?.place ?? 0) > ANCHOR_DISTANCE) {
          const next = advance(anchor)
          if (!next) break
          anchor = { place: (anchor?.place ?? 0) + ANCHOR_DISTANCE, ...next }
          drop.run(list, from, anchor.place, anchor.createdAt, anchor.id)
          size += ROW_OVERHEAD
        }
        return anchor
      })()
    }
  }

  function find(dataset: number, conditions: string): { key: number; total: number | null } | undefined {
    const found = known.get(dataset, conditions)
    if (found) return found
    raiseMark(dataset)
    return known.get(dataset, conditions)
  }

  function keep(dataset: number, conditions: string, total: number | null): number {
    if (size > MAX_REMEMBERED) {
      unmarkAll.run()
      size = 0
    }
    raiseMark(dataset)
    size += conditions.length + ROW_OVERHEAD
    return remember.get(dataset, conditions, total) as number
  }

  /** Forgets what is remembered of the dataset if it has new messages, or if to look for them would cost more. */
  function raiseMark(dataset: number): void {
    const { mark: last, greatest } = marked.get(dataset) ?? {}
    if (last !== undefined && last === greatest) return
    if (last !== undefined && greatest !== undefined) {
      const isCheap = (greatest - last) * ROWS_FOR_ONE <= (worth.get(dataset) ?? 0)
      if (!isCheap || hasNew.get(last, dataset) !== undefined) unmark.run(dataset)
    }
    mark.run(dataset)
  }
}

const GREATEST = '(SELECT ifnull(max(sequence), 0) FROM messages)'

const LOWER = `UPDATE message_marks SET sequence = ${GREATEST} WHERE sequence > ${GREATEST}`
const FORGET = 'DELETE FROM message_marks WHERE dataset'

const TABLES = `
  CREATE TEMP TABLE IF NOT EXISTS message_marks (dataset INTEGER PRIMARY KEY, sequence INTEGER NOT NULL);
  CREATE INDEX IF NOT EXISTS temp.message_marks_sequence ON message_marks (sequence);
  CREATE TEMP TABLE IF NOT EXISTS message_lists (
    key INTEGER PRIMARY KEY,
    dataset INTEGER NOT NULL REFERENCES message_marks ON DELETE CASCADE,
    conditions TEXT NOT NULL,
    total INTEGER,
    UNIQUE (dataset, conditions)
  );
  CREATE TEMP TABLE IF NOT EXISTS message_anchors (
    list INTEGER NOT NULL REFERENCES message_lists ON DELETE CASCADE,
    counted_from TEXT NOT NULL,
    place INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (list, counted_from, place)
  ) WITHOUT ROWID;
  CREATE TEMP TRIGGER IF NOT EXISTS message_marks_delete AFTER DELETE ON main.messages
    BEGIN ${FORGET} = OLD.dataset; END;
  CREATE TEMP TRIGGER IF NOT EXISTS message_marks_delete_last AFTER DELETE ON main.messages
    WHEN OLD.sequence > ${GREATEST}
    BEGIN ${LOWER}; END;
  CREATE TEMP TRIGGER IF NOT EXISTS message_marks_update
    AFTER UPDATE OF sequence, dataset, id, created_at, channel, subscriber_id, transaction_id, context
    ON main.messages
    BEGIN ${LOWER}; ${FORGET} IN (OLD.dataset, NEW.dataset); END`

/** To look through a new message costs what to count so many in an index does. */
const ROWS_FOR_ONE = 30

/** In characters: a filter by many transactions is long. */
const MAX_REMEMBERED = 1_000_000
const ROW_OVERHEAD = 50
