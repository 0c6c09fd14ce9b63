import { Novu } from '@novu/api'
import express from 'express'

const { NOVU_SERVER_URL: serverURL, NOVU_SECRET_KEY: secretKey } = process.env
const novu = new Novu({ serverURL, secretKey })

/** A small product: it welcomes new users, shows their messages and chooses the mail provider. */
export const app = express().use(express.json())

app.post('/sign-up', async ({ body: { id, email } }, response) => {
  await novu.subscribers.create({ subscriberId: id, email })
  const { result } = await novu.trigger({ workflowId: 'welcome', to: { subscriberId: id } })
  response.status(201).json({ isWelcomed: result.acknowledged })
})

app.get('/messages', async (_request, response) => {
  const { result } = await novu.messages.retrieve({ channel: 'email', limit: 5 })
  response.json(result.data.map(({ channel, subject }) => ({ channel, subject })))
})

app.put('/mail-provider', async ({ body: { id } }, response) => {
  const { result } = await novu.integrations.setAsPrimary(id)
  response.json({ isPrimary: result.primary, name: result.name })
})
