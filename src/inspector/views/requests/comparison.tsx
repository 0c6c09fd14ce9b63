import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { RecordedExchange } from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'
import { compareJson, type JsonDifferences } from '../../parts/compare-json.js'
import { formatDuration } from '../../parts/format-time.js'
import { Icon } from '../../parts/icon.js'
import { parseJsonOrText, parseTruncatedJson } from '../../parts/json.js'
import { JsonTree } from '../../parts/json-tree.js'
import { useShortcut } from '../../parts/keyboard.js'

/** A response to compare, with a title such as `Now`. */
export type TitledResponse = Pick<RecordedExchange, 'status' | 'duration' | 'response'> & {
  title: string
}

type Pair = readonly [TitledResponse, TitledResponse]

/**
 * Shows two responses side by side with their differences marked. Buttons and keys jump from
 * difference to difference.
 */
export function Comparison({ responses }: { responses: Pair }) {
  const bodies = useMemo(() => bodiesOf(responses), [responses[0].response, responses[1].response])
  const differences = useMemo(() => compareJson(...bodies), [bodies])
  const ref = useRef<HTMLDivElement>(null)
  const { current, position, jump } = useJump(ref, differences)
  const isSameStatus = responses[0].status === responses[1].status
  return (
    <div ref={ref} class="comparison">
      <div class="line comparison-head">
        <Summary differences={differences} isSameStatus={isSameStatus} position={position} />
        {differences.kinds.size > 0 && <JumpButtons jump={jump} />}
      </div>
      {/* Trees open the differing parts only on mount. The key remounts them when the differences
          change. */}
      <div key={[...differences.kinds.keys()].join()} class="compare">
        {responses.map(({ title, status = 'no response', duration }, index) => (
          <section key={title}>
            <h3 class={isSameStatus ? '' : 'is-different is-warn'}>
              {[title, status, formatDuration(duration)].join(' · ')}
            </h3>
            <JsonTree
              label={title}
              value={bodies[index]}
              marks={{ kinds: differences.kinds, current }}
            />
          </section>
        ))}
      </div>
    </div>
  )
}

/** Parses both bodies. If either was truncated, first cuts the longer body to the same length. */
function bodiesOf(responses: Pair): [unknown, unknown] {
  const [one, other] = responses.map(({ response }) => response?.body ?? '')
  const isTruncated = responses.some(({ response }) => response?.truncated)
  if (!isTruncated) return [parseJsonOrText(one ?? ''), parseJsonOrText(other ?? '')]
  const length = Math.min(one?.length ?? 0, other?.length ?? 0)
  const parse = (body = '') => parseTruncatedJson(body.slice(0, length))
  return [parse(one), parse(other)]
}

interface SummaryProps {
  differences: JsonDifferences
  isSameStatus: boolean
  /** The number of the current difference; undefined before the first jump. */
  position: number | undefined
}

function Summary({ differences, isSameStatus, position }: SummaryProps) {
  const { kinds, ignoredCount } = differences
  const texts = [
    isSameStatus ? '' : 'different status',
    kinds.size > 0 && countDifferences(kinds.size, position)
  ].filter(Boolean)
  const isEqual = texts.length === 0
  return (
    <>
      <span role="status">
        <Chip tone={isEqual ? 'good' : 'warn'}>
          {isEqual ? 'The responses are equal' : texts.join(', ')}
        </Chip>
      </span>
      {ignoredCount > 0 && <span class="hint">Timestamps and request ids are ignored.</span>}
    </>
  )
}

function countDifferences(count: number, position: number | undefined): string {
  const noun = count === 1 ? 'difference' : 'differences'
  return position === undefined ? `${count} ${noun}` : `${position} of ${count} ${noun}`
}

function JumpButtons({ jump }: { jump(step: 1 | -1): void }) {
  return (
    <div class="line" role="group" aria-label="Differences">
      <button title="Previous difference (k)" onClick={() => jump(-1)}>
        <Icon name="up" />
        Previous
      </button>
      <button title="Next difference (j)" onClick={() => jump(1)}>
        <Icon name="down" />
        Next
      </button>
    </div>
  )
}

/** Lets the user jump between differences. Scrolls both trees to the current difference. */
function useJump(ref: { current: HTMLDivElement | null }, { kinds }: JsonDifferences) {
  const [position, setPosition] = useState<number>()
  const paths = [...kinds.keys()]
  const jump = (step: 1 | -1) => {
    if (paths.length === 0) return
    const start = step === 1 ? 0 : 1
    // `position` is out of date if the user presses two keys before the next render, so use the
    // updater's argument.
    setPosition((latest = start) => {
      const next = latest - 1 + step
      return ((next + paths.length) % paths.length) + 1
    })
  }
  useShortcut('j', () => jump(1))
  useShortcut('k', () => jump(-1))
  useLayoutEffect(() => setPosition(undefined), [kinds])
  useLayoutEffect(() => {
    for (const line of ref.current?.querySelectorAll('.json-line[aria-current]') ?? [])
      line.scrollIntoView({ block: 'nearest' })
  }, [position])
  const current = position === undefined ? undefined : paths[position - 1]
  return { current, position, jump }
}
