import { encodeBase62, slugify } from '../../../core/slug.js'
import type { WorkflowStep } from '../../../workflow-steps/schemas.js'
import { checkStatus, jsonIn, recordIn, stepPath } from '../../answers.js'
import { check, checkSame, needed } from '../../outcome.js'
import { type ConformanceCase, contract, settled } from '../case.js'
import type { StepName } from '../steps.js'
import type { Subject } from '../subject.js'

const LOOKUP = settled('Retrieve step: a workflow or step is named by _id, identifier or slug')

export const STEPS: ConformanceCase[] = [
  {
    id: 'step.named',
    tier: 'behaviour',
    rule: 'The step that is asked for is the step that is returned, with its `stepId` and `workflowId`.',
    basis: contract('stepId: Step identifier; workflowId: Workflow identifier'),
    needs: ['step'],
    async run({ steps, ask }) {
      for (const { workflowId, stepId, step } of await steps()) {
        const isAsked =
          isNameOf(stepId, [step._id, step.stepId]) && isNameOf(workflowId, [step.workflowDatabaseId, step.workflowId])
        check(isAsked, `step ${stepId} of ${workflowId}: the answer is step ${step.stepId} of ${step.workflowId}`)
        const again = recordIn<WorkflowStep>(await ask(stepPath(step.workflowId, step.stepId)))
        checkSame(
          [again.stepId, again.workflowId, again._id],
          [step.stepId, step.workflowId, step._id],
          'the ids of a step, asked for by them,'
        )
      }
    }
  },
  forms('step.workflow-forms', 'A workflow is found by its `_id`, its identifier or its slug alike.', ({ step }) =>
    [step.workflowDatabaseId, step.workflowId, slug('any-name', 'wf', step.workflowDatabaseId)].map((id) => [
      id,
      step.stepId
    ])
  ),
  forms('step.step-forms', 'A step is found by its `_id`, its `stepId` or its slug alike.', ({ step }) =>
    [step._id, step.stepId, step.slug].map((id) => [step.workflowId, id])
  ),
  forms('step.slug-name', 'The name in a slug has no meaning.', ({ step }) => [
    [step.workflowId, slug('another-name', 'st', step._id)],
    [slug('another-name', 'wf', step.workflowDatabaseId), slug('', 'st', step._id)]
  ]),
  forms('step.capitals', 'An `_id` may be written in capitals.', ({ step }) => [
    [step.workflowDatabaseId.toUpperCase(), step._id.toUpperCase()]
  ]),
  {
    id: 'step.workflow-id',
    tier: 'behaviour',
    rule: 'The `workflowId` of the answer is the identifier, whatever was asked by.',
    basis: contract('workflowId: Workflow identifier; workflowDatabaseId: Workflow database identifier'),
    needs: ['step'],
    async run({ steps, ask }) {
      for (const { step } of await steps()) {
        const answer = await ask(stepPath(step.workflowDatabaseId, step._id))
        const { workflowId, workflowDatabaseId } = recordIn<WorkflowStep>(answer)
        const isSame = workflowId === step.workflowId && workflowDatabaseId === step.workflowDatabaseId
        check(isSame && workflowId !== workflowDatabaseId, `${answer.request}: workflowId is not the identifier`)
      }
    }
  },
  {
    id: 'step.repeated',
    tier: 'behaviour',
    rule: 'The same question has the same answer.',
    basis: settled('Retrieve step: it is a read'),
    needs: ['step'],
    async run({ steps, ask }) {
      for (const { workflowId, stepId } of await steps()) {
        const path = stepPath(workflowId, stepId)
        const [one, two] = [await ask(path), await ask(path)]
        check(one.text === two.text, `${one.request}: two answers are not the same, byte for byte`)
      }
    }
  },
  {
    id: 'step.own',
    tier: 'behaviour',
    rule: 'A step is found in its own workflow only.',
    basis: contract('A workflow consists of steps. A single step of a workflow can be retrieved'),
    needs: ['step'],
    async run({ steps, ask }) {
      const all = await steps()
      const [first] = all
      const other = all.find(({ step }) => step.workflowDatabaseId !== first?.step.workflowDatabaseId)
      needed(first !== undefined && other !== undefined, 'it needs steps of two workflows: name both with --workflow')
      checkStatus(await ask(stepPath(first.step.workflowId, other.step._id)), 404, 400)
    }
  },
  {
    id: 'step.distinct',
    tier: 'behaviour',
    rule: 'Steps of a workflow differ in `_id`, `stepId` and slug.',
    basis: contract('_id: Database identifier of the step; stepId: Step identifier'),
    needs: ['step'],
    async run({ steps }) {
      const all = await steps()
      for (const field of ['_id', 'stepId', 'slug'] as const) {
        const values = all.map(({ step }) => `${step.workflowDatabaseId} ${step[field]}`)
        check(new Set(values).size === values.length, `two steps of a workflow have one ${field}`)
      }
    }
  },
  {
    id: 'step.workflow-first',
    tier: 'behaviour',
    rule: 'The workflow is looked up first: a known step of an unknown workflow is a 404 of the workflow.',
    basis: settled('Retrieve step: the order of lookup'),
    needs: ['step'],
    async run({ steps, ask, unknownId }) {
      const [{ step } = {}] = await steps()
      const answer = await ask(stepPath(unknownId(), step?._id ?? ''))
      checkStatus(answer, 404)
      const { message } = jsonIn(answer) as { message?: unknown }
      check(/^Workflow /.test(String(message)), `${answer.request}: the message is not about the workflow`)
    }
  },
  {
    id: 'step.wrong-slug',
    tier: 'behaviour',
    rule: 'A slug counts only whole and of its kind: with a character more, or as that of a workflow, it finds no step.',
    basis: LOOKUP,
    needs: ['step'],
    async run({ steps, ask }) {
      const [{ step } = {}] = await steps()
      needed(step !== undefined, 'it needs a step')
      for (const text of [`${step.slug}0`, slug('x', 'wf', step._id)]) {
        checkStatus(await ask(stepPath(step.workflowId, text)), 404, 400)
      }
    }
  },
  {
    id: 'step.schema',
    tier: 'behaviour',
    rule: '`variables` is a JSON Schema of an object.',
    basis: contract('variables: JSON Schema for variables'),
    needs: ['step'],
    async run({ steps }) {
      for (const { workflowId, stepId, step } of await steps()) {
        const { type, properties } = (step.variables ?? {}) as { type?: unknown; properties?: unknown }
        const isSchema = type === 'object' && typeof properties === 'object' && properties !== null
        check(isSchema, `step ${stepId} of ${workflowId}: variables is no schema of an object`)
      }
    }
  }
]

/** A case that a step is found by several pairs of names, and is the same each time. */
function forms(id: string, rule: string, pairs: (name: StepName) => string[][]): ConformanceCase {
  return {
    id,
    tier: 'behaviour',
    rule,
    basis: LOOKUP,
    needs: ['step'],
    async run(subject: Subject) {
      for (const name of (await subject.steps()).slice(0, 4)) {
        needed(/^[0-9a-f]{24}$/.test(name.step._id), 'the _id of a step is not of 24 hex digits')
        for (const [workflowId = '', stepId = ''] of pairs(name)) {
          const answer = await subject.ask(stepPath(workflowId, stepId))
          checkSame(
            recordIn(answer),
            name.step,
            `${answer.request}: the step and that of ${name.workflowId}/${name.stepId}`
          )
        }
      }
    }
  }
}

/** Whether it is one of the names, or a slug, which another case judges. */
function isNameOf(text: string, [id, identifier]: readonly [id: string, identifier: string]): boolean {
  return text === identifier || text.toLowerCase() === id || /_(?:wf|st)_[0-9A-Za-z]+$/.test(text)
}

function slug(name: string, kind: 'wf' | 'st', id: string): string {
  return `${slugify(name)}_${kind}_${encodeBase62(id)}`
}
