#!/usr/bin/env node
/**
 * Does what the Dockerfile says in plain folders, for a machine without an engine, and runs the outcome.
 *
 *     node scripts/image-steps.mjs [--keep]
 *
 * Each stage is a folder that stands for `/`. COPY takes from the checkout what .dockerignore lets through, RUN runs with
 * absolute paths moved into the folder, and the last stage's ENTRYPOINT, CMD, ENV and HEALTHCHECK are then used as they are.
 * It shows a forgotten COPY, a build that needs what the image has not, and a write to what docker-compose.yml makes
 * read-only. It shows nothing about the base images, users and permissions: this Node runs as whoever you are.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, delimiter, join, resolve } from 'node:path'
import { startAndAsk } from './start-and-ask.mjs'

const checkout = join(import.meta.dirname, '..')
const scratch = mkdtempSync(join(tmpdir(), 'image-'))
const tools = join(scratch, 'tools')
const stages = []

try {
  giveTools()
  for (const step of readSteps()) takeStep(step)
  await runImage(stages.at(-1))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  if (process.argv.includes('--keep')) console.log(`kept: ${scratch}`)
  else rmSync(scratch, { recursive: true, force: true })
}

/** The users of an image do not exist here, so handing a folder over to one is left out. */
function giveTools() {
  mkdirSync(tools)
  writeFileSync(join(tools, 'chown'), '#!/bin/sh\n', { mode: 0o755 })
}

/** The instructions of the Dockerfile, continued lines joined and comments left out. */
function readSteps() {
  const text = readFileSync(join(checkout, 'Dockerfile'), 'utf8').replaceAll(/^\s*#.*\n/gm, '')
  const lines = text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim())
  return lines.map((line) => {
    const [, instruction, rest] = /^(\S+)\s+(.*)$/.exec(line)
    const flags = Object.fromEntries(
      [...rest.matchAll(/(?:^|(?<=\s))--([a-z-]+)=(\S+)\s/g)].map(([, name, value]) => [name, value])
    )
    // Flags stand first; what looks like one later belongs to the command.
    const words = rest.replace(/^(--[a-z-]+=\S+\s+)+/, '')
    return { line, instruction: instruction.toUpperCase(), flags, words }
  })
}

function takeStep({ line, instruction, flags, words }) {
  console.log(line)
  const stage = stages.at(-1)
  switch (instruction) {
    case 'FROM': {
      const root = join(scratch, `stage-${stages.length}`)
      mkdirSync(root)
      stages.push({ name: / AS (\S+)$/i.exec(words)?.[1], root, workdir: '/', env: {} })
      break
    }
    case 'WORKDIR':
      stage.workdir = words
      mkdirSync(join(stage.root, words), { recursive: true })
      break
    case 'ENV':
      for (const [, name, value] of words.matchAll(/(\w+)=(\S+)/g)) stage.env[name] = value
      break
    case 'COPY':
      copy(stage, flags.from, words.split(/\s+/))
      break
    case 'RUN':
      run(stage, ['sh', '-c', moved(words, stage.root)], 'inherit')
      break
    case 'HEALTHCHECK':
      stage.healthcheck = JSON.parse(words.replace(/^CMD\s+/, ''))
      break
    case 'ENTRYPOINT':
    case 'CMD':
      stage[instruction.toLowerCase()] = JSON.parse(words)
      break
    case 'USER':
    case 'EXPOSE':
      break
    default:
      throw new Error(`${instruction} is not known here: teach it to scripts/image-steps.mjs`)
  }
}

function copy(stage, from, words) {
  const target = resolve('/', stage.workdir, words.at(-1))
  for (const word of words.slice(0, -1)) {
    const source = from ? join(stageNamed(from).root, word) : join(checkout, word)
    if (!from && !inContext(word)) throw new Error(`${word} is kept out by .dockerignore`)
    if (!existsSync(source)) throw new Error(`${word} does not exist`)
    const into = statSync(source).isDirectory() ? target : join(target, basename(word))
    cpSync(source, join(stage.root, into), { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  }
}

function stageNamed(name) {
  const stage = stages.find((candidate) => candidate.name === name)
  if (!stage) throw new Error(`there is no stage ${name}`)
  return stage
}

/** Whether .dockerignore lets a name at the top of the checkout through. Its form is `*` and then the exceptions. */
function inContext(word) {
  const [all, ...exceptions] = readFileSync(join(checkout, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line.trim() && !line.startsWith('#'))
  if (all !== '*' || exceptions.some((line) => !/^![\w.-]+$/.test(line))) {
    throw new Error('.dockerignore is no longer `*` and names to let through: teach it to scripts/image-steps.mjs')
  }
  return exceptions.includes(`!${word}`)
}

async function runImage(image) {
  const port = await freePort()
  image.env.NOTIFICATION_MOCK_PORT = String(port)
  if (existsSync(join(image.root, image.workdir, 'node_modules/typescript'))) {
    throw new Error('the last stage holds devDependencies')
  }
  const before = files(image.root)
  const [command, ...args] = [...image.entrypoint, ...image.cmd, '--json']
  const told = await startAndAsk({
    command: command === 'node' ? process.execPath : command,
    args,
    cwd: join(image.root, image.workdir),
    env: environmentOf(image),
    // It listens on every address of the container, and prints the one it was told.
    url: `http://127.0.0.1:${port}`,
    meanwhile: () => run(image, image.healthcheck, 'pipe')
  })
  if (isHealthy(image)) throw new Error('the health check succeeds without a server')

  const written = [...files(image.root)].filter((file) => !before.has(file))
  const strange = written.filter((file) => !file.startsWith('data/'))
  if (strange.length > 0) throw new Error(`written outside /data, which is read-only: ${strange.join(', ')}`)
  if (written.length === 0) throw new Error('nothing was written to /data')
  console.log(`${told}; healthy only while it ran; wrote ${written.join(', ')}`)
}

function isHealthy(image) {
  try {
    run(image, image.healthcheck, 'pipe')
    return true
  } catch {
    return false
  }
}

function run(stage, [command, ...args], stdio) {
  const { status, stderr } = spawnSync(command, args, {
    cwd: join(stage.root, stage.workdir),
    env: environmentOf(stage),
    encoding: 'utf8',
    stdio: ['ignore', stdio, stdio]
  })
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')} left with ${status}\n${stderr ?? ''}`)
}

/** That of the image, beside what the tools of this machine need; nothing that an outer npm or another checkout adds. */
function environmentOf(stage) {
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(HOME|TMPDIR|LANG|CI)$|^npm_config_(?!local_prefix)/i.test(name)
  )
  const path = process.env.PATH.split(delimiter).filter((entry) => !entry.includes('node_modules'))
  const own = Object.entries(stage.env).map(([name, value]) => [name, moved(value, stage.root)])
  return { ...Object.fromEntries(kept), PATH: [tools, ...path].join(delimiter), ...Object.fromEntries(own) }
}

/** The text with its absolute paths moved into the folder that stands for `/`. */
function moved(text, root) {
  return text.replaceAll(/(^|\s)\/(?=\w)/g, `$1${root}/`)
}

function files(root) {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
  return new Set(
    entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
  )
}

function freePort() {
  return new Promise((settle) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => settle(port))
    })
  })
}
