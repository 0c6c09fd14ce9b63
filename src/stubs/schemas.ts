import { type Static, Type } from '@sinclair/typebox'
import { STUB_METHODS } from '../domain/stub.js'
import { namedObject, recordOf, strictObject, stringEnum } from '../schema/typebox.js'

const headers = Type.Optional(recordOf(Type.String(), 'Headers of the response', 100))
const body = Type.Optional(
  Type.Unknown({
    description: 'Body of the response: a string is sent as text, any other value as JSON'
  })
)

const fields = {
  method: stringEnum(STUB_METHODS, { description: 'A stub for GET also responds to HEAD' }),
  path: Type.String({
    maxLength: 2000,
    description:
      'Path without a query, such as `/v1/subscribers/{subscriberId}`. ' +
      'A parameter matches one non-empty segment'
  }),
  headers,
  body,
  delay: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 600_000,
      description: 'Milliseconds to wait before the response'
    })
  )
}

const status = Type.Integer({
  minimum: 200,
  maximum: 599,
  description: 'Status of the response; default 200'
})

const functionId = Type.Optional(
  Type.String({
    description:
      "The id of the function that returns the response. It runs in the server's process. " +
      'For a stub with `reply`, `env.stubs.add()` sets this id'
  })
)

/** A stub in a seed. It has no function, because a function can't be written to a file. */
export const SeedStub = strictObject(
  { ...fields, status: Type.Optional(status) },
  { description: 'A fixed response to requests that no operation serves' }
)
export type SeedStub = Static<typeof SeedStub>

export const NewStub = namedObject(
  'NewStub',
  'A fixed or computed response to requests that no operation serves',
  { ...SeedStub.properties, function: functionId }
)
export type NewStub = Static<typeof NewStub>

/** The response that the function of a stub returns. */
export const StubResponse = strictObject({ status: Type.Optional(status), headers, body })
export type StubResponse = Static<typeof StubResponse>

const id = Type.String({ description: 'The id of the stub, sent as `x-mock-stub`' })

export const Stub = namedObject('Stub', 'A stub of the environment', {
  id,
  ...fields,
  status,
  function: functionId
})
export type Stub = Static<typeof Stub>

export const AddedStub = namedObject('AddedStub', 'The stub that was added', {
  ...Stub.properties,
  replaced: Type.Optional(
    Type.Literal(true, {
      description:
        'Set if the stub replaced a stub with the same method and path, and took over its id'
    })
  )
})
export type AddedStub = Static<typeof AddedStub>
