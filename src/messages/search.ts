import { type Static, Type } from '@sinclair/typebox'
import { namedObject, ref, strictObject } from '../schema/typebox.js'
import { MessageQuery } from './filters.js'
import { MessageResponse } from './schemas.js'

const TEXT =
  'Only messages that contain all these words. The search covers the ids, contexts, subject, ' +
  "title and content, and the subscriber's name, email address and phone number. It ignores the " +
  'case of the letters a to z'

export const MessageSearch = strictObject({
  ...MessageQuery.properties,
  text: Type.Optional(Type.String({ maxLength: 1000, description: TEXT }))
})
export type MessageSearch = Static<typeof MessageSearch>

export const FoundMessages = namedObject('FoundMessages', 'A page of matching messages', {
  messages: Type.Array(ref(MessageResponse), { description: 'Messages on this page' }),
  totalCount: Type.Optional(
    Type.Integer({ description: 'Total number of matches; absent if the search has a `text`' })
  ),
  hasMore: Type.Boolean({ description: 'Whether more matches follow this page' }),
  reason: Type.Optional(Type.String({ description: 'Why this page has no messages' }))
})
export type FoundMessages = Static<typeof FoundMessages>
