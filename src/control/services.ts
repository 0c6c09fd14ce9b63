import { seedService } from '../seeds/service.js'
import { type ServiceOptions, startServices } from '../services.js'

export type Services = ReturnType<typeof buildServices>

/** Builds all services over one database. */
export function buildServices(options: ServiceOptions) {
  const services = startServices(options)
  return { ...services, seeds: seedService({ ...options, environments: services.environments }) }
}
