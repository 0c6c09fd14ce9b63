import { createFieldErrors, invalidFields } from '../domain/errors.js'
import { type AddRoute, listOf } from '../http/control-route.js'
import type { Operation } from '../schema/operation.js'
import { ref, strictObject } from '../schema/typebox.js'
import { findStubProblems, type StubProblem } from './checks.js'
import { AddedStub, NewStub, Stub } from './schemas.js'
import type { StubService } from './service.js'

const MIB = 1024 * 1024

/** Adds the routes for the stubs of an environment. */
export function stubRoutes(
  route: AddRoute,
  { stubs, operations }: { stubs: StubService; operations: readonly Operation[] }
): void {
  route('GET', '/stubs', 'listStubs', 'List stubs', {
    response: listOf('stubs', ref(Stub), 'The stubs, oldest first'),
    handler: async ({ environment }) => ({ stubs: stubs.list(environment) })
  })

  route('POST', '/stubs', 'addStub', 'Add a stub', {
    description:
      'Adds a response to requests that no operation serves. Replaces a stub with the same ' +
      'method and path.',
    body: ref(NewStub),
    // Leave room for a body of 1 MiB and the other fields of the stub.
    bodyLimit: 2 * MIB,
    response: ref(AddedStub),
    status: 201,
    handler: async ({ environment, body }) => {
      const problems = findStubProblems(body, operations)
      const { function: id } = body
      if (id !== undefined && !stubs.functions.find(id)) problems.push(UNKNOWN_FUNCTION)
      rejectInvalid(problems)
      return stubs.add(environment, body)
    }
  })

  route('DELETE', '/stubs', 'clearStubs', 'Remove all stubs', {
    handler: async ({ environment }) => stubs.clear(environment)
  })

  route('DELETE', '/stubs/:id', 'removeStub', 'Remove a stub', {
    params: strictObject({ id: Stub.properties.id }),
    handler: async ({ environment, params }) => stubs.remove(environment, params.id)
  })
}

const UNKNOWN_FUNCTION: StubProblem = {
  path: ['function'],
  message:
    "is not the id of a function in the server's process; " +
    'to add a function, pass it to `env.stubs.add()` as `reply`'
}

function rejectInvalid(problems: readonly StubProblem[]): void {
  if (problems.length === 0) return
  const errors = createFieldErrors()
  for (const { path, message, value } of problems) {
    const field = path.join('.')
    errors[field] = { messages: [`${field} ${message}`], ...(value !== undefined && { value }) }
  }
  throw invalidFields(errors)
}
