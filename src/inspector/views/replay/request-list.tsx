import type { ReplayedRequest } from '../../../client/index.js'
import { Chip, type Tone } from '../../parts/chip.js'
import type { IconName } from '../../parts/icon.js'
import { ListRow, ROW_HEIGHT, ROW_WITH_NOTE_HEIGHT } from '../../parts/list-row.js'
import { VirtualList } from '../../parts/virtual-list.js'
import { navigate } from '../../shell/router.js'

/** How each result is shown. */
export const RESULTS: Record<
  ReplayedRequest['result'],
  { text: string; tone?: Tone; icon: IconName }
> = {
  equal: { text: 'same', tone: 'good', icon: 'check' },
  different: { text: 'differs', tone: 'bad', icon: 'warn' },
  next: { text: 'next', tone: 'accent', icon: 'send' },
  later: { text: 'later', icon: 'clock' }
}

export const UNKNOWN_CAUSE = 'the cause is not known'

interface Props {
  requests: readonly ReplayedRequest[]
  open: ReplayedRequest | undefined
  href(sequence: number): string
}

/** Lists the recorded requests, oldest first, with the result of each. */
export function ReplayedRequestList({ requests, open, href }: Props) {
  return (
    <VirtualList
      label="Recorded requests, oldest first"
      items={requests}
      keyOf={({ sequence }) => sequence}
      heightOf={({ result }) => (result === 'different' ? ROW_WITH_NOTE_HEIGHT : ROW_HEIGHT)}
      current={open?.sequence}
      isScrolledTo
      select={(sequence) => navigate(href(Number(sequence)), { replace: true })}
    >
      {({ sequence, method, target, status, result, cause = UNKNOWN_CAUSE }, place) => (
        <ListRow
          {...place}
          href={href(sequence)}
          tone={RESULTS[result].tone}
          lead={<code>{method}</code>}
          title={target}
          end={
            <>
              <Chip tone={RESULTS[result].tone}>{RESULTS[result].text}</Chip>
              <code>{status ?? 'none'}</code>
            </>
          }
          note={result === 'different' && cause}
        >
          <code>
            <bdi>{target}</bdi>
          </code>
        </ListRow>
      )}
    </VirtualList>
  )
}
