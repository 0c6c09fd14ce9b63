import type { MessageResponse } from '../../messages/schemas.js'

/** What is shorter tells nothing of anyone, and would be found in other words. */
const MIN_LENGTH = 4
const REQUEST = /((?:GET|HEAD|POST) \/\S*)/
const PRIVATE_PARAMETER = /\b(subscriberId|transactionId|contextKeys)((?:\[\d*\])?)=([^&\s]+?)(?=&|:?$)/g
/** What cases ask for that no record has. */
const MADE_UP = /^(?:tenant%3A)?(?:conformance|ffffffff[\da-f]{16}$)/
const ADDRESS = /[^\s@"'<>()=:]+@[^\s@"'<>()]+\.\w+/g

/** Whom messages went to, and what names them: for each value, what a report shows in its place. */
export function createPrivateValues() {
  const shown = new Map<string, string>()

  return {
    /** Keeps what these messages tell. */
    learn(messages: readonly MessageResponse[]): void {
      for (const { subscriber, transactionId, contextKeys, email, phone } of messages) {
        const { subscriberId, firstName, lastName } = subscriber ?? {}
        const named = { subscriberId, firstName, lastName, transactionId }
        for (const [name, value] of Object.entries(named)) keep(value, name)
        for (const value of [email, subscriber?.email]) keep(value, 'email')
        for (const value of [phone, subscriber?.phone]) keep(value, 'phone')
        for (const value of Array.isArray(contextKeys) ? contextKeys : []) keep(value, 'contextKeys')
      }
    },

    /** Returns a text with the name of each private value in its place, such as `<subscriberId>`. */
    hide(text: string): string {
      const parts = text.split(REQUEST)
      return parts.map((part, index) => (index % 2 === 1 ? hideInRequest(part) : hideInWords(part))).join('')
    }
  }

  function keep(value: unknown, name: string): void {
    if (typeof value !== 'string' || value.length < MIN_LENGTH) return
    shown.set(value, `<${name}>`).set(encodeURIComponent(value), `<${name}>`)
  }

  function hideInWords(text: string): string {
    const longestFirst = [...shown].sort(([one], [two]) => two.length - one.length)
    return longestFirst
      .reduce((hidden, [value, name]) => hidden.replaceAll(value, name), text)
      .replace(ADDRESS, '<email>')
  }
}

function hideInRequest(text: string): string {
  return text.replace(PRIVATE_PARAMETER, (whole, name, suffix, value) =>
    MADE_UP.test(value) ? whole : `${name}${suffix}=<${name}>`
  )
}
