import { seedService } from '../seeds/service.js'
import { createServices, type ServiceOptions } from '../services.js'

export type ControlServices = ReturnType<typeof createControlServices>

/** Creates all services, which share one database. */
export function createControlServices(options: ServiceOptions) {
  const services = createServices(options)
  return { ...services, seeds: seedService({ ...options, environments: services.environments }) }
}
