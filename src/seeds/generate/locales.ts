/** The parts of Faker that `generate` uses. The build bundles this module only once. */
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
