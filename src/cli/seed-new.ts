import { writeFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { StartError } from '../core/errors.js'
import { readPackagedSeeds } from '../seeds/packaged.js'
import { addOptions } from './options.js'

interface JsonFlag {
  json?: true
}

export function addSeedList(seed: Command): void {
  const command = seed.command('list').description('list the seeds that come with the package, to be named by --seed')
  addOptions(command, [new Option('--json', 'print them as JSON')]).action(({ json }: JsonFlag) => {
    const seeds = readPackagedSeeds()
    const width = Math.max(...seeds.map(({ name }) => name.length))
    const lines = seeds.map(({ name, description }) => `${name.padEnd(width)}  ${description}\n`)
    process.stdout.write(json ? `${JSON.stringify({ seeds })}\n` : lines.join(''))
  })
}

export function addSeedNew(seed: Command): void {
  const command = seed
    .command('new')
    .description('write the beginning of a seed of your own, with comments; it serves as it is')
    .argument('[file]', 'the file to write, which must not exist', 'seed.yaml')
  addOptions(command, [new Option('--json', 'print the outcome as JSON')]).action(
    (file: string, { json }: JsonFlag) => {
      if (!/\.ya?ml$/.test(file)) throw new StartError(`${file} must end in .yaml`)
      try {
        writeFileSync(file, newSeed(file), { flag: 'wx' })
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        throw new StartError(`can't write ${file}: ${REMEDIES[code] ?? code}`)
      }
      const text = `${file} written; to serve it:\n  notification-mock --seed ${file}\n`
      process.stdout.write(json ? `${JSON.stringify({ file: resolve(file) })}\n` : text)
    }
  )
}

const REMEDIES: Record<string, string> = {
  EEXIST: 'it exists already; name another file',
  ENOENT: 'its folder does not exist; make it first'
}

function newSeed(file: string): string {
  // As a project has it; where there is none yet, it will be there once the package is installed.
  const schema = resolve('node_modules/notification-mock/seeds/schema.json')
  const path = relative(dirname(resolve(file)), schema).replaceAll('\\', '/')
  return `# yaml-language-server: $schema=${path.startsWith('.') ? path : `./${path}`}
${BEGINNING}`
}

const BEGINNING = `
# What the mock holds. Fields have the names of the service; what is left out gets a default, the same each time.
# With the first line, editors complete and check this file; so does: notification-mock seed check <this file>

environments:
  # Each has keys of its own, and sees nothing of the others.
  - name: Development
    apiKeys: [development-key]

    # Connections of channels (in_app, email, sms, chat, push) to providers. One of a channel can be primary.
    integrations:
      - { identifier: mail-main, providerId: sendgrid, channel: email, primary: true }
      - { identifier: mail-spare, providerId: mailgun, channel: email }
      - { identifier: sms-main, providerId: twilio, channel: sms, primary: true }

    # Those who get messages.
    subscribers:
      - { subscriberId: ada, firstName: Ada, email: ada@example.com, phone: "+447700900142" }

    # What messages are sent by; each step has a type, and what was set for it.
    workflows:
      - identifier: welcome
        name: Welcome
        steps:
          - { type: email, controlValues: { subject: "Hi {{payload.name}}", body: <p>Welcome.</p> } }
          - { type: sms, controlValues: { body: "Welcome, {{payload.name}}." } }

    # What was sent, or could not be. Each gets an id and a time, unless you give them.
    messages:
      - { subscriberId: ada, workflow: welcome, channel: email, subject: Hi Ada, content: <p>Welcome.</p> }
      - { subscriberId: ada, workflow: welcome, channel: sms, content: "Welcome, Ada.", status: error,
          errorId: unexpected_sms_error, errorText: The number is not in service. }

    # Many more, believable ones, if you need pages of them:
    # generate: { messages: 1000, randomSeed: 1 }
`
