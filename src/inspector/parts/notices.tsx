export {
  ToastProvider as NoticesProvider,
  ToastsInDialog as NoticesInDialog,
  useToasts as useNotices
} from './toast.js'
