import { useState } from 'preact/hooks'
import type { NewStub, RecordedRequest, Stub } from '../../../client/index.js'
import { Dialog } from '../../parts/dialog.js'
import { EmptyList } from '../../parts/empty.js'
import { JsonDialog } from '../../parts/json-dialog.js'
import { JsonTree } from '../../parts/json-tree.js'
import { useResource } from '../../parts/resource.js'
import { LoadError } from '../../shell/connection-note.js'
import { useSession } from '../../shell/session.js'
import { ActionButtons, useAction } from '../actions.js'

const STUB_TEMPLATE = {
  method: 'POST',
  path: '/v1/events/trigger',
  status: 201,
  body: { data: { acknowledged: true, status: 'processed', transactionId: 'stub-1' } }
}

/** Lists the environment's stubs. The user can add and remove stubs. */
export function StubsDialog({ close }: { close: () => void }) {
  const { env, version, reloadAll } = useSession()
  const { value: stubs, error, reload } = useResource(() => env.stubs.list(), [env, version])
  const [isWriting, setWriting] = useState(false)
  const removeStubs = useRemoveStubs()
  const actions = [{ name: 'Write a stub as JSON…', run: () => setWriting(true) }]
  if (stubs && stubs.length > 1) {
    actions.push({ name: 'Remove all', run: () => removeStubs(stubs, 'Removed all stubs') })
  }
  const submit = async (stub: object) => {
    // The server validates the stub.
    await env.stubs.add(stub as NewStub)
    reloadAll()
  }
  return (
    <Dialog title="Stubs" close={close} wide>
      <ActionButtons actions={actions} />
      <LoadError error={error} retry={reload} />
      {stubs?.length === 0 && (
        <EmptyList title="No stubs yet">
          <p>
            A stub responds to a path that isn't mocked. To add a stub, open a request to such a
            path and choose “Add a stub”.
          </p>
        </EmptyList>
      )}
      <ul class="states">
        {stubs?.map((stub) => (
          <StubCard
            key={stub.id}
            stub={stub}
            remove={() => removeStubs([stub], `Removed ${targetOf(stub)}`)}
          />
        ))}
      </ul>
      {isWriting && (
        <JsonDialog
          title="New stub"
          value={STUB_TEMPLATE}
          button="Add the stub"
          submit={submit}
          close={() => setWriting(false)}
        />
      )}
    </Dialog>
  )
}

function StubCard({ stub, remove }: { stub: Stub; remove(): unknown }) {
  const { id, status, delay, headers, body, function: functionId } = stub
  const response = { ...(headers && { headers }), ...(body !== undefined && { body }) }
  return (
    <li class="card state" aria-label={targetOf(stub)}>
      <div class="line">
        <code dir="auto">{targetOf(stub)}</code>
        <span class="hint">
          {functionId === undefined ? status : 'response from a function'}
          {delay !== undefined && ` after ${delay} ms`}
        </span>
        <span class="spread" />
        <ActionButtons actions={[{ name: `Remove ${id}`, run: remove }]} />
      </div>
      {Object.keys(response).length > 0 && (
        <JsonTree label={`Response of ${id}`} value={response} />
      )}
    </li>
  )
}

const targetOf = ({ method, path }: Pick<NewStub, 'method' | 'path'>) => `${method} ${path}`

/** Returns a function that removes stubs. Undo adds them again. */
function useRemoveStubs() {
  const { env } = useSession()
  const runAction = useAction()
  return (stubs: readonly Stub[], successText: string) => {
    const remove = () => Promise.all(stubs.map(({ id }) => env.stubs.remove(id)))
    const addAgain = async () => {
      for (const { id: _id, ...stub } of stubs) await env.stubs.add(stub)
    }
    return runAction(remove, successText, addAgain)
  }
}

/**
 * Returns a function that adds a stub for a request that wasn't mocked. The stub responds with
 * `{ "data": {} }`. Undo removes the stub.
 */
export function useAddStub() {
  const { env } = useSession()
  const runAction = useAction()
  return ({ method, path }: Pick<RecordedRequest, 'method' | 'path'>) => {
    const stub = { method, path, status: method === 'POST' ? 201 : 200, body: { data: {} } }
    return runAction(
      // The server rejects the stub if stubs don't support the method.
      () => env.stubs.add(stub as NewStub),
      `${method} ${path} now gets ${stub.status}. Edit the stub under Stubs`,
      ({ id }) => env.stubs.remove(id)
    )
  }
}
