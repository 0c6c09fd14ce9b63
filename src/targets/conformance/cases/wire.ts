import { encodeBase62 } from '../../../core/slug.js'
import { Integration } from '../../../integrations/schemas.js'
import { MessagesPage } from '../../../messages/schemas.js'
import { WorkflowStep } from '../../../workflow-steps/schemas.js'
import { checkJsonType, jsonIn, recordIn, stepPath } from '../../answers.js'
import { check, needed } from '../../outcome.js'
import { type ConformanceCase, contract, settled } from '../case.js'
import { checkFields, checkShape } from '../shapes.js'
import type { Subject } from '../subject.js'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/
const NOT_IN_CONTRACT = 'Resources and their fields: the tables of fields'

export const WIRE: ConformanceCase[] = [
  {
    id: 'wire.list.shape',
    tier: 'wire',
    rule: 'A page of messages has the fields of the contract, each of its type and from its list of values.',
    basis: contract('Paginated message list; Message (MessageResponseDto) and all that it holds'),
    needs: [],
    async run({ list }) {
      const page = await list([['limit', 100]])
      checkShape(MessagesPage, jsonIn(page.answer), page.answer.request)
    }
  },
  {
    id: 'wire.list.fields',
    tier: 'wire',
    rule: 'A page of messages has no other fields.',
    basis: contract(NOT_IN_CONTRACT),
    needs: [],
    async run({ list }) {
      const page = await list([['limit', 100]])
      checkFields(MessagesPage, jsonIn(page.answer), page.answer.request)
    }
  },
  {
    id: 'wire.list.content-type',
    tier: 'wire',
    rule: 'A page of messages is sent as `application/json; charset=utf-8`.',
    basis: contract('Success is reported as "OK" with a JSON body'),
    needs: [],
    async run({ list }) {
      const { answer } = await list([['limit', 1]])
      checkJsonType(answer.headers, answer.request)
    }
  },
  {
    id: 'wire.list.ids',
    tier: 'wire',
    rule: 'No two messages have the same `_id`.',
    basis: contract('_id: Message identifier'),
    needs: ['messages'],
    async run({ sample }) {
      const ids = (await sample()).messages.map(({ _id }) => _id).filter((id) => id !== undefined)
      const doubled = ids.find((id, index) => ids.indexOf(id) !== index)
      check(doubled === undefined, `two messages have the _id ${doubled}`)
    }
  },
  {
    id: 'wire.list.environment',
    tier: 'wire',
    rule: 'All messages, and what is embedded in them, belong to one environment and one organization.',
    basis: contract('The key determines the current environment that requests act in.'),
    needs: ['messages'],
    async run({ sample }) {
      const { messages } = await sample()
      for (const field of ['_environmentId', '_organizationId'] as const) {
        const owners = messages.flatMap((each) =>
          [each, each.subscriber, each.template].flatMap((record) => (record ? [record[field]] : []))
        )
        const other = owners.find((owner) => owner !== owners[0])
        check(other === undefined, `${field} is ${owners[0]} and ${other}`)
      }
    }
  },
  {
    id: 'wire.list.subscriber',
    tier: 'wire',
    rule: 'The embedded subscriber is that of `_subscriberId`.',
    basis: contract('_subscriberId: Subscriber id (internal); _id: internal id, different from `subscriberId`'),
    needs: ['messages'],
    async run({ sample }) {
      for (const { _id, _subscriberId, subscriber } of (await sample()).messages) {
        if (subscriber?._id === undefined) continue
        check(subscriber._id === _subscriberId, `message ${_id}: subscriber._id is not _subscriberId`)
      }
    }
  },
  {
    id: 'wire.list.times',
    tier: 'wire',
    rule: 'Times of messages and subscribers are in ISO 8601.',
    basis: contract('SubscriberResponseDto: createdAt, updatedAt, lastOnlineAt string (ISO 8601)'),
    needs: ['messages'],
    async run({ sample }) {
      for (const message of (await sample()).messages) {
        const { createdAt, updatedAt, lastOnlineAt } = message.subscriber ?? {}
        const times = { 'subscriber.createdAt': createdAt, 'subscriber.updatedAt': updatedAt, lastOnlineAt }
        const all = { ...times, createdAt: message.createdAt, lastSeenDate: message.lastSeenDate }
        for (const [field, time] of Object.entries(all)) {
          const isTime = typeof time !== 'string' || (ISO.test(time) && !Number.isNaN(Date.parse(time)))
          check(isTime, `message ${message._id}: ${field} is not in ISO 8601`)
        }
      }
    }
  },
  {
    id: 'wire.list.context-keys',
    tier: 'wire',
    rule: 'Each context key of a message has the form `type:id`.',
    basis: contract('contextKeys: Context(s) in which the message was sent, each in the form `type:id`'),
    needs: ['contexts'],
    async run({ sample }) {
      for (const { _id, contextKeys = [] } of (await sample()).messages) {
        const isKey = (key: unknown) => typeof key === 'string' && /^[^:]+:.+$/s.test(key)
        check(contextKeys.every(isKey), `message ${_id}: contextKeys has what is not type:id`)
      }
    }
  },
  {
    id: 'wire.step.shape',
    tier: 'wire',
    rule: 'A step has the fields of the contract, each of its type and from its list of values.',
    basis: contract('Workflow step (response of step retrieval) and all that it holds'),
    needs: ['step'],
    async run(subject) {
      await forEachStep(subject, (step, what) => checkShape(WorkflowStep, withoutControlValues(step), what))
    }
  },
  {
    id: 'wire.step.fields',
    tier: 'wire',
    rule: 'A step has no other fields.',
    basis: contract(NOT_IN_CONTRACT),
    needs: ['step'],
    async run(subject) {
      await forEachStep(subject, (step, what) => checkFields(WorkflowStep, withoutControlValues(step), what))
    }
  },
  {
    id: 'wire.step.content-type',
    tier: 'wire',
    rule: 'A step is sent as `application/json; charset=utf-8`.',
    basis: contract('Success is reported as "OK" with a JSON body'),
    needs: ['step'],
    async run({ steps, ask }) {
      const [{ workflowId = '', stepId = '' } = {}] = await steps()
      const answer = await ask(stepPath(workflowId, stepId))
      checkJsonType(answer.headers, answer.request)
    }
  },
  {
    id: 'wire.step.slug',
    tier: 'wire',
    rule: 'The slug of a step ends with `_st_` and its `_id` in base 62.',
    basis: settled('the form of a slug'),
    needs: ['step'],
    async run(subject) {
      await forEachStep(subject, ({ slug, _id }, what) => {
        const isId = /^[0-9a-f]{24}$/.test(_id)
        check(isId && slug.endsWith(`_st_${encodeBase62(_id)}`), `${what}: the slug is not that of its _id`)
      })
    }
  },
  {
    id: 'wire.integration.shape',
    tier: 'wire',
    rule: 'The integration that set-primary answers with has the fields of the contract, each of its type and from its list.',
    basis: contract('Integration (response of set-primary), CredentialsDto, ConfigurationsDto, StepFilterDto'),
    needs: ['integration'],
    async run(subject) {
      await forEachIntegration(subject, (integration, what) => checkShape(Integration, integration, what))
    }
  },
  {
    id: 'wire.integration.fields',
    tier: 'wire',
    rule: 'The integration that set-primary answers with has no other fields.',
    basis: contract(NOT_IN_CONTRACT),
    needs: ['integration'],
    async run(subject) {
      await forEachIntegration(subject, (integration, what) => checkFields(Integration, integration, what))
    }
  },
  {
    id: 'wire.integration.content-type',
    tier: 'wire',
    rule: 'The integration that set-primary answers with is sent as `application/json; charset=utf-8`.',
    basis: contract('Success is reported as "OK" with a JSON body'),
    needs: ['integration'],
    async run({ integrations }) {
      const answer = await integrations.set((await integrations.one())._id)
      checkJsonType(answer.headers, answer.request)
    }
  },
  {
    id: 'wire.integration.deleted',
    tier: 'wire',
    rule: 'An integration that is not deleted has no `deletedAt` and no `deletedBy`.',
    basis: contract('deletedAt: Set when soft deleted'),
    needs: ['integration'],
    async run(subject) {
      await forEachIntegration(subject, ({ deleted, deletedAt, deletedBy }, what) => {
        check(deleted === false, `${what}: deleted is not false: a deleted integration can't become primary`)
        check(deletedAt === undefined && deletedBy === undefined, `${what}: it has deletedAt or deletedBy`)
      })
    }
  },
  {
    id: 'wire.head',
    tier: 'wire',
    rule: 'HEAD of a list is answered as GET, without a body.',
    basis: settled('HEAD works where GET does'),
    needs: [],
    async run({ ask }) {
      const answer = await ask('/v1/messages?limit=1', { method: 'HEAD' })
      check(answer.status === 200 && answer.text === '', `${answer.request}: status ${answer.status}, must be 200`)
      checkJsonType(answer.headers, answer.request)
    }
  }
]

async function forEachStep({ steps, ask }: Subject, judge: (step: WorkflowStep, what: string) => void): Promise<void> {
  for (const { workflowId, stepId } of await steps()) {
    const answer = await ask(stepPath(workflowId, stepId))
    judge(recordIn(answer), answer.request)
  }
}

/** The field that the row `control-values` adds in one of its positions. */
function withoutControlValues(step: WorkflowStep): unknown {
  const { values: _, ...controls } = (step.controls ?? {}) as WorkflowStep['controls'] & { values?: unknown }
  return typeof step.controls === 'object' ? { ...step, controls } : step
}

async function forEachIntegration(
  { integrations }: Subject,
  judge: (integration: Integration, what: string) => void
): Promise<void> {
  const all = (await integrations.all()).filter(({ integration }) => integration !== undefined)
  needed(all.length > 0, 'no integration that was named can be primary')
  for (const { id } of all) {
    const answer = await integrations.set(id)
    judge(recordIn(answer), answer.request)
  }
}
