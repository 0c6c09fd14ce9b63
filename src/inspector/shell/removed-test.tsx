import type { ConnectedMock, ListedEnvironment } from '../../client/index.js'
import { reportOf } from '../../client/report.js'
import { ErrorNote } from '../parts/error-note.js'
import { useResource } from '../parts/resource.js'
import { entriesOf } from '../report/entries.js'
import { EntryPane } from '../report/entry-pane.js'
import { hrefTo, useRoute } from './router.js'
import '../report/style.css'

interface Props {
  mock: ConnectedMock
  listed: ListedEnvironment
}

/** Shows a test whose environment was removed. The layout is the same as in the run's report. */
export function RemovedTest({ mock, listed: { name, environmentId } }: Props) {
  const { value, error, reload } = useResource(
    async () => entriesOf(reportOf(await mock.runRecord({ environment: environmentId }))),
    [mock, environmentId]
  )
  const tab = useRoute().rest[0]
  const [entry] = value ?? []
  return (
    <div class="report">
      <header class="report-head">
        <h1 class="visually-hidden">{name}</h1>
        <p>
          The environment of this test was removed. The server keeps the records of up to 200 such
          tests.
        </p>
        <a class="button" href={hrefTo([], { environment: undefined })}>
          Open another environment
        </a>
      </header>
      <main class="view">
        {error !== undefined && <ErrorNote error={error} retry={reload} />}
        {entry && <EntryPane entry={entry} tab={tab} />}
      </main>
    </div>
  )
}
