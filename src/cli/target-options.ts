import { CommanderError, Option } from 'commander'
import { sendable } from '../client/connection.js'
import { attempt } from '../core/errors.js'
import { serverUrl } from './health.js'
import { countOption } from './options.js'

/** A flag for the address of a server to ask. */
export function urlOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser(serverUrl).makeOptionMandatory()
}

/** A flag for the key that it is asked with. Its variable keeps the key out of the list of processes; no error has it. */
export function keyOption(flags: string, description: string): Option {
  return new Option(flags, description).makeOptionMandatory().argParser((text) => {
    if (text !== '' && attempt(() => sendable(text))) return text
    // Not an InvalidArgumentError, which is printed with the value.
    throw new CommanderError(2, 'notification-mock.key', `error: ${flags} must be a key that a header can carry`)
  })
}

export function rateOption(): Option {
  return countOption('--rate <count>', 'send at most so many requests a second', 10_000, 1)
}

export function timeoutOption(): Option {
  return countOption('--timeout <seconds>', 'wait so long for an answer', 3600, 1)
}
