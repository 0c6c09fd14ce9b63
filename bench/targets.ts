import type { Outcome } from './outcome.js'

interface Target {
  measure: string
  /** Name of a figure of that measure. */
  figure: string
  says: string
  unit: string
  least?: number
  most?: number
}

/** What is aimed at. A ratio holds within one run; the rest on a machine like the one that the results name. */
const TARGETS: readonly Target[] = [
  {
    measure: 'throughput',
    figure: 'list.10.of-fastify',
    says: 'list of 10 of 100,000, 10 connections, of the rate of bare Fastify',
    unit: '',
    least: 0.38
  },
  {
    measure: 'throughput',
    figure: 'step.10.of-fastify',
    says: 'step of 10 KB, 10 connections, of the rate of bare Fastify',
    unit: '',
    least: 0.45
  },
  {
    measure: 'throughput',
    figure: 'set-primary.10.of-fastify',
    says: 'set-primary in memory, 10 connections, of the rate of bare Fastify',
    unit: '',
    least: 0.3
  },
  ...['list', 'step', 'set-primary'].map((operation) => ({
    measure: 'latency',
    figure: `${operation}.10.p99-of-fastify`,
    says: `p99 of ${operation}, 10 connections, of that of bare Fastify`,
    unit: '',
    most: 4
  })),
  {
    measure: 'peers',
    figure: 'prism',
    says: 'the list, over the rate of Prism with a static example',
    unit: '',
    least: 10
  },
  { measure: 'peers', figure: 'wiremock', says: 'the list, over the rate of a stub of WireMock', unit: '', least: 5 },
  {
    measure: 'peers',
    figure: 'mockoon',
    says: 'the list, over the rate of a static route of Mockoon',
    unit: '',
    least: 15
  },
  {
    measure: 'peers',
    figure: 'json-server',
    says: 'the list, over the rate of json-server on 100,000 rows',
    unit: '',
    least: 50
  },
  {
    measure: 'sizes',
    figure: 'first-page.growth',
    says: 'first page out of 1,000,000, of its time out of 1,000',
    unit: '',
    most: 1.3
  },
  {
    measure: 'sizes',
    figure: 'filters.growth',
    says: 'first page of the single filter that grows most, out of 1,000,000, of its time out of 1,000',
    unit: '',
    most: 1.3
  },
  { measure: 'sizes', figure: 'deep-page.first', says: 'page at offset 900,000', unit: 'ms', most: 100 },
  {
    measure: 'seeding',
    figure: 'smaller.rows-per-second',
    says: 'seeding 100,000 generated messages into a file',
    unit: 'rows/s',
    least: 60_000
  },
  { measure: 'seeding', figure: 'larger.seconds', says: 'seeding 1,000,000 into a file', unit: 's', most: 45 },
  { measure: 'seeding', figure: 'larger.peak-mb', says: 'memory at its peak meanwhile', unit: 'MB', most: 300 },
  {
    measure: 'start',
    figure: 'of-fastify',
    says: 'start to the first 200, default seed, of the time of bare Fastify (on Node 24 at most 1)',
    unit: '',
    most: 1.3
  },
  {
    measure: 'cold',
    figure: 'of-fastify',
    says: 'start to 1,000 lists one after the other, of the time of bare Fastify',
    unit: '',
    most: 1.5
  },
  { measure: 'memory', figure: 'idle.of-fastify', says: 'idle, default seed, of bare Fastify', unit: '', most: 1.2 },
  {
    measure: 'memory',
    figure: 'requests.growth',
    says: 'after 1,000,000 requests, of after 100,000',
    unit: '',
    least: 0.9,
    most: 1.1
  },
  { measure: 'environments', figure: 'small.make', says: 'make by fork, default seed', unit: 'ms', most: 5 },
  {
    measure: 'environments',
    figure: 'small.reset',
    says: 'reset after a set-primary, default seed',
    unit: 'ms',
    most: 5
  },
  {
    measure: 'environments',
    figure: 'large.reset',
    says: 'reset after a set-primary, 100,000 messages',
    unit: 'ms',
    most: 20
  },
  { measure: 'environments', figure: 'large.make', says: 'make by fork, 100,000 messages', unit: 'ms', most: 1500 },
  {
    measure: 'inspector',
    figure: 'cpu.of-without',
    says: "the list while the inspector's stream is read, of the rate without, by CPU",
    unit: '',
    least: 0.95
  },
  {
    measure: 'inspector',
    figure: 'longest-task',
    says: "the inspector's longest task in 10,000 requests, 500 a second",
    unit: 'ms',
    most: 100
  },
  {
    measure: 'inspector',
    figure: 'heap.growth',
    says: "the inspector's heap after 10,000 requests, of after 2,000",
    unit: '',
    most: 1.2
  }
]

export interface Verdict {
  measure: string
  says: string
  target: string
  unit: string
  value: number | null
  verdict: 'met' | 'missed' | 'not measured'
}

/** How each target of the measures that ran stands. */
export function verdictsOn(outcomes: ReadonlyMap<string, Outcome>): Verdict[] {
  return TARGETS.filter(({ measure }) => outcomes.has(measure)).map((target) => {
    const { measure, figure, says, unit } = target
    const found = outcomes.get(measure)?.figures[figure]
    const value = found === undefined || Number.isNaN(found) ? null : found
    return { measure, says, target: targetText(target), unit, value, verdict: verdictOf(value, target) }
  })
}

function verdictOf(value: number | null, { least = -Infinity, most = Infinity }: Target): Verdict['verdict'] {
  if (value === null) return 'not measured'
  return value >= least && value <= most ? 'met' : 'missed'
}

function targetText({ least, most }: Target): string {
  if (least === undefined) return `≤ ${most?.toLocaleString('en')}`
  return most === undefined ? `≥ ${least.toLocaleString('en')}` : `${least} … ${most}`
}
