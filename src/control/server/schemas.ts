import { Type } from '@sinclair/typebox'
import { freeObject, strictObject, stringEnum } from '../../core/typebox.js'

export const Health = strictObject({ status: stringEnum(['ok']) })

export const NotReady = strictObject({
  status: stringEnum(['starting']),
  missing: Type.Array(Type.String({ description: 'A step of the start that is not done yet' }))
})

export const AssumptionList = strictObject({
  assumptions: Type.Array(
    Type.Object(
      {
        id: Type.String(),
        value: Type.String({ description: 'The position for environments that do not set their own' })
      },
      { description: 'One assumption, its positions, and the one that applies' }
    )
  )
})

export const OpenApiDocument = freeObject('An OpenAPI document')
