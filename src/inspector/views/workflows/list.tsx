import { useState } from 'preact/hooks'
import type { ListedWorkflow } from '../../../client/index.js'
import { Empty } from '../../parts/empty.js'
import { moveFocus } from '../../parts/keys.js'
import { Search } from '../../parts/search.js'
import { addressOf, go } from '../../shell/router.js'

const PAGE = 50

/** Workflows with their steps; the arrows go from step to step. */
export function WorkflowList({ workflows, text }: { workflows: readonly ListedWorkflow[]; text: string }) {
  const [count, setCount] = useState(PAGE)
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = workflows.filter((workflow) => {
    const all = searchable(workflow)
    return words.every((word) => all.includes(word))
  })
  const shown = found.slice(0, count)
  const firstStep = shown.find(({ steps }) => steps.length > 0)?.steps[0]?._id
  return (
    <>
      <div class="view-head">
        <Search
          label="Search workflows and steps"
          value={text}
          change={(next) => go(addressOf(['workflows'], { text: next }), { replace: true })}
        />
        <span class="hint">{found.length === 1 ? '1 workflow' : `${found.length.toLocaleString()} workflows`}</span>
      </div>
      {found.length === 0 && (
        <Empty title="No workflow or step is called so">
          <a href={addressOf(['workflows'])}>Show all</a>
        </Empty>
      )}
      <div class="workflows" onKeyDown={moveFocus}>
        {shown.map((workflow) => (
          <section key={workflow._id} class="card" aria-label={workflow.name}>
            <div class="row">
              <h2 dir="auto">
                <a href={addressOf(['workflows', workflow.identifier])}>{workflow.name}</a>
              </h2>
              <code dir="auto">{workflow.identifier}</code>
              <span class="badge">{workflow.origin}</span>
            </div>
            {workflow.steps.length === 0 && <p class="hint">No steps.</p>}
            <ol class="steps">
              {workflow.steps.map((step) => (
                <li key={step._id}>
                  <a
                    class="button"
                    data-item
                    tabIndex={step._id === firstStep ? 0 : -1}
                    href={addressOf(['workflows', workflow.identifier, step.stepId])}
                  >
                    <span class="badge">{step.type}</span> <bdi>{step.name}</bdi>
                  </a>
                </li>
              ))}
            </ol>
          </section>
        ))}
      </div>
      {found.length > count && (
        <button type="button" onClick={() => setCount(count + PAGE)}>
          Show {Math.min(PAGE, found.length - count)} more of {found.length - count}
        </button>
      )}
    </>
  )
}

function searchable({ name, identifier, origin, steps }: ListedWorkflow): string {
  const own = steps.flatMap((step) => [step.name, step.stepId, step.type])
  return [name, identifier, origin, ...own].join(' ').toLowerCase()
}

/** One workflow: what it is asked for by, and its steps in their order. */
export function WorkflowPage({ workflow }: { workflow: ListedWorkflow }) {
  const { _id, identifier, slug, name, origin, steps } = workflow
  return (
    <>
      <nav class="trail" aria-label="Above">
        <a href={addressOf(['workflows'])}>Workflows</a>
      </nav>
      <div class="view-head">
        <h1 dir="auto">{name}</h1>
        <span class="badge">{origin}</span>
      </div>
      <dl class="facts">
        <dt>identifier</dt>
        <dd>
          <code dir="auto">{identifier}</code>
        </dd>
        <dt>_id</dt>
        <dd>
          <code>{_id}</code>
        </dd>
        <dt>slug</dt>
        <dd>
          <code>{slug}</code>
        </dd>
      </dl>
      {steps.length === 0 ? (
        <Empty title="The workflow has no steps" />
      ) : (
        <Steps identifier={identifier} steps={steps} />
      )}
    </>
  )
}

function Steps({ identifier, steps }: Pick<ListedWorkflow, 'identifier' | 'steps'>) {
  return (
    <div class="scroll card" role="region" aria-label="Steps" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Type</th>
            <th scope="col">stepId</th>
            <th scope="col">slug</th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <tr key={step._id}>
              <td dir="auto">
                <a href={addressOf(['workflows', identifier, step.stepId])}>{step.name}</a>
              </td>
              <td>
                <span class="badge">{step.type}</span>
              </td>
              <td>
                <code dir="auto">{step.stepId}</code>
              </td>
              <td>
                <code>{step.slug}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
