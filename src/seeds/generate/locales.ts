/** The parts of Faker that `generate` uses. They are large, so all bundles share one copy. */
export {
  ar,
  base,
  de,
  en,
  en_GB,
  en_US,
  es,
  Faker,
  fr,
  ja,
  type LocaleDefinition,
  pt_BR,
  sv
} from '@faker-js/faker'
