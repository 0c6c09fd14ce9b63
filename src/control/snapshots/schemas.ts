import { Type } from '@sinclair/typebox'
import { ref, strictObject } from '../../core/typebox.js'
import { Snapshot } from '../../environments/schemas.js'

export const SnapshotParams = strictObject({
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the snapshot' })
})

export const SnapshotList = strictObject({ snapshots: Type.Array(ref(Snapshot)) })
