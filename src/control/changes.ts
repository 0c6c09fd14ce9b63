import fp from 'fastify-plugin'
import { redactionOf } from './requests/redaction.js'
import type { Services } from './services.js'

/**
 * Notes each control request that changes its environment and succeeds, before it is answered, and tells the number in the
 * header `x-mock-change`: so a client knows its own changes from those of others.
 */
export const noteChanges = fp<Services>(
  async (app, { journals, ...secrets }) => {
    app.addHook('onSend', ({ method, params, headers, environment, routeOptions }, reply, _payload, done) => {
      const { control } = routeOptions.config
      if (method === 'GET' || method === 'HEAD' || !control || control.changesNothing || reply.statusCode >= 300) {
        done()
        return
      }
      // Throws if it has been removed meanwhile: its journal must not come back.
      void environment.datasets
      const { id: operation, summary } = control
      const [target] = Object.values(params as Record<string, string>)
      const shown = target === undefined ? {} : { target: redactionOf(secrets, headers.authorization).text(target) }
      reply.header('x-mock-change', journals.of(environment).changes.note({ operation, summary, ...shown }))
      done()
    })
  },
  { name: 'note-changes', dependencies: ['authentication'] }
)
