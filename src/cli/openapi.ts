import { type Command, Option } from 'commander'
import { assume, type Profile } from '../core/assumptions.js'
import { USUAL_URL } from './health.js'
import { addOptions, assumeOption, profileOption } from './options.js'

export function addOpenapi(program: Command): void {
  const command = program
    .command('openapi')
    .description('print the OpenAPI 3.1 document of the three operations, as JSON')
  const control = new Option('--control', 'print that of the control routes instead')
  addOptions(command, [profileOption(), assumeOption(), control]).action(
    async (options: { profile: Profile; assume: Record<string, string>; control?: true }) => {
      // Not by variables, which are meant for other commands too.
      const [other] = ['profile', 'assume'].filter((name) => command.getOptionValueSource(name) === 'cli')
      if (options.control && other) {
        command.error(`error: --control and --${other} contradict each other: the control routes are always the same`)
      }
      const { controlDocument, openApiDocument } = await import('./work.js')
      const document = options.control
        ? await controlDocument()
        : await openApiDocument(assume(options.profile, options.assume))
      const servers = [{ url: USUAL_URL, description: 'The default address' }]
      process.stdout.write(`${JSON.stringify({ ...document, servers }, null, 2)}\n`)
    }
  )
}
