import { useState } from 'preact/hooks'
import type { Change, RecordedExchange } from '../../../client/index.js'
import { EmptyPane } from '../../parts/empty.js'
import { ErrorNote, messageOf } from '../../parts/error-note.js'
import { formatDuration } from '../../parts/format-time.js'
import { EventRow } from '../../parts/list-row.js'
import { Close, Pane } from '../../parts/pane.js'
import { useResource } from '../../parts/resource.js'
import { type Tab, Tabs } from '../../parts/tabs.js'
import { WhileConnected } from '../../shell/connection-note.js'
import { useConnectionProblem } from '../../shell/live-provider.js'
import { Comparison, type TitledResponse } from './comparison.js'
import { RequestContent, ResponseContent } from './exchange.js'
import { FindingCallout } from './finding.js'
import { describeChange, targetOf, toneOf } from './format-request.js'
import type { RequestsLocation } from './location.js'
import { RequestActions } from './request-actions.js'
import { StatusText } from './request-list.js'
import { RequestTime } from './request-time.js'
import type { ListedRequests } from './use-requests.js'

interface DetailProps {
  location: RequestsLocation
  listed: ListedRequests
  sequence: number
  tab: string | undefined
  selectTab(tab: string): void
}

/** The pane of the open request. */
export function RequestDetail(props: DetailProps) {
  const { location, listed, sequence, tab, selectTab } = props
  const [compared, setCompared] = useState<{ sequence: number; response: TitledResponse }>()
  const { exchange, isLoaded, error } = useExchange(listed, sequence)
  const back = location.href({ open: undefined })
  if (!exchange) {
    return (
      <EmptyPane back={back}>
        <WhileConnected>{error !== undefined && messageOf(error)}</WhileConnected>
      </EmptyPane>
    )
  }
  const compareWith = (response: TitledResponse) => {
    setCompared({ sequence, response })
    selectTab('comparison')
  }
  const tabs = detailTabs(props, exchange, isLoaded)
  if (compared?.sequence === sequence) {
    const responses = [{ ...exchange, title: `#${sequence}` }, compared.response] as const
    const content = () => <Comparison responses={responses} />
    tabs.push({ id: 'comparison', title: 'Comparison', content })
  }
  const head = (
    <div class="head">
      <DetailTitle exchange={exchange} back={location.open === undefined ? undefined : back} />
      {exchange.reason !== undefined && (
        <FindingCallout tone={toneOf(exchange)} message={exchange.reason} />
      )}
      <WhileConnected>{error !== undefined && <ErrorNote error={error} />}</WhileConnected>
      <RequestActions exchange={exchange} listed={listed} compareWith={compareWith} />
    </div>
  )
  return (
    <Pane label={`Request ${sequence}`} head={head}>
      <Tabs label="Views of the request" tabs={tabs} current={tab} select={selectTab} />
    </Pane>
  )
}

/** Loads a request with its response. Until both are loaded, returns the request from the list. */
function useExchange({ source, requests }: ListedRequests, sequence: number) {
  const request = requests.find((candidate) => candidate.sequence === sequence)
  const isConnected = useConnectionProblem() === undefined
  const { value, error } = useResource(
    () => source.get(sequence),
    // The duration is set when the response has been sent, so load the request again then.
    [source.get, sequence, request?.duration, isConnected]
  )
  const isLoaded = value?.sequence === sequence
  const exchange: RecordedExchange | undefined = isLoaded ? value : request
  return { exchange, isLoaded, error }
}

interface DetailTitleProps {
  exchange: RecordedExchange
  back: string | undefined
}

function DetailTitle({ exchange, back }: DetailTitleProps) {
  const { method, duration, sequence, flags } = exchange
  const facts = [
    duration === undefined ? 'pending' : formatDuration(duration),
    `#${sequence}`,
    flags.faulted && `rule ${flags.faulted}`
  ]
  return (
    <div class="head-title">
      <StatusText request={exchange} class="big" />
      <h2 class="target">
        <span class="muted">{method}</span> <bdi>{targetOf(exchange)}</bdi>
      </h2>
      <span class="hint">
        <RequestTime request={exchange} />
        {facts.filter(Boolean).map((fact) => ` · ${fact}`)}
      </span>
      {back !== undefined && <Close back={back} />}
    </div>
  )
}

function detailTabs(
  { listed, sequence }: DetailProps,
  exchange: RecordedExchange,
  isLoaded: boolean
): Tab[] {
  const { changed = [] } = exchange
  const laterChanges = listed.changes.filter(({ after }) => after === sequence)
  return [
    {
      id: 'response',
      title: 'Response',
      content: () => isLoaded && <ResponseContent key={sequence} exchange={exchange} />
    },
    {
      id: 'request',
      title: 'Request',
      content: () => <RequestContent key={sequence} request={exchange} />
    },
    {
      id: 'changes',
      title: 'Changes',
      count: changed.length || undefined,
      content: () => <Changes changed={changed} laterChanges={laterChanges} />
    }
  ]
}

interface ChangesProps {
  /** The records that the request itself changed. */
  changed: NonNullable<RecordedExchange['changed']>
  /** The changes made after this request and before the next one. */
  laterChanges: readonly Change[]
}

function Changes({ changed, laterChanges }: ChangesProps) {
  return (
    <>
      {changed.length === 0 && <p>The request changed nothing.</p>}
      {changed.map((record, index) => (
        <EventRow key={`record ${index}`} title={`${record.id} ${record.fields ?? ''}`}>
          {describeChange({ changed: [record] })}
        </EventRow>
      ))}
      {laterChanges.length > 0 && <p>Later changes, before the next request:</p>}
      {laterChanges.map((change) => (
        <EventRow key={change.sequence} title={change.time}>
          {describeChange(change)}
        </EventRow>
      ))}
    </>
  )
}
