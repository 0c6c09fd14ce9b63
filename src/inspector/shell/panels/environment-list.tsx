import { useState } from 'preact/hooks'
import type { ListedEnvironment } from '../../../client/index.js'
import { Dialog } from '../../parts/dialog.js'
import { EmptyList } from '../../parts/empty.js'
import { formatLocalTime, formatLocalTimeOfDay } from '../../parts/format-time.js'
import { ListRow } from '../../parts/list-row.js'
import { SearchLine } from '../../parts/search-line.js'
import { OUTCOMES } from '../../report/entries.js'
import { hrefOfEnvironment, sortEnvironments, titleOf } from '../environments.js'
import { useRoute } from '../router.js'
import { useSession } from '../session.js'

/** The maximum number of environments to show at once. The search includes all environments. */
const MAX_SHOWN = 100

/**
 * Lists all environments with their tests, including tests whose environment was removed. A click
 * opens an environment.
 */
export function EnvironmentsDialog({ close }: { close: () => void }) {
  const { environments, listed } = useSession()
  const { view } = useRoute()
  const [search, setSearch] = useState('')
  const words = search.toLowerCase().split(/\s+/)
  const matches = sortEnvironments(environments).filter((environment) => {
    const text = searchableText(environment).toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const hiddenCount = matches.length - MAX_SHOWN
  return (
    <Dialog title="Environments and tests" close={close} wide>
      <SearchLine
        label="Search environments"
        placeholder="title, name, file, failed, removed"
        text={search}
        change={setSearch}
        isFocused
      >
        <span class="hint">{matches.length.toLocaleString()}</span>
      </SearchLine>
      {matches.length === 0 && <EmptyList title="No matching environments" />}
      <ul aria-label="Environments" onClick={close}>
        {matches.slice(0, MAX_SHOWN).map((environment) => (
          <li key={environment.environmentId}>
            <EnvironmentRow
              environment={environment}
              href={hrefOfEnvironment(environment, view)}
              isCurrent={environment.environmentId === listed?.environmentId}
            />
          </li>
        ))}
      </ul>
      {hiddenCount > 0 && (
        <p class="hint">{hiddenCount.toLocaleString()} more. Use the search to find them.</p>
      )}
    </Dialog>
  )
}

function searchableText(environment: ListedEnvironment): string {
  const { name, test, removed } = environment
  return [titleOf(environment), name, test?.file, test?.outcome, removed && 'removed'].join(' ')
}

interface RowProps {
  environment: ListedEnvironment
  href: string
  isCurrent: boolean
}

function EnvironmentRow({ environment, href, isCurrent }: RowProps) {
  const { name, test, createdAt, removed } = environment
  const { outcome = 'unknown' } = test ?? {}
  const title = titleOf(environment)
  const isOutcomeKnown = test !== undefined && outcome !== 'unknown'
  const facts = [
    isOutcomeKnown && outcome,
    removed && 'removed',
    test?.file,
    title !== name && name
  ]
  const { tone, icon } = OUTCOMES[outcome]
  return (
    <ListRow
      href={href}
      isCurrent={isCurrent}
      tabIndex={0}
      tone={tone}
      {...(isOutcomeKnown && { icon })}
      note={facts.filter(Boolean).join(' · ')}
      title={title}
      end={
        <time dateTime={createdAt} title={formatLocalTime(createdAt)}>
          {formatLocalTimeOfDay(createdAt)}
        </time>
      }
    >
      {title}
    </ListRow>
  )
}
