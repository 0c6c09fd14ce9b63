import './style.css'
import { render } from 'preact'
import { App } from './shell/app.js'

const root = document.getElementById('app')
if (root) render(<App />, root)
