/** The secret in most of the texts below. */
const SECRET = 'hunter2-value'
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nMIIEow/+==\n-----END RSA PRIVATE KEY-----'

/** Texts that contain a secret, recognizable by its field name or by its format. */
export const SECRET_TEXTS: [title: string, text: string][] = [
  ['a field', `{"password":"${SECRET}"}`],
  ['an array', `{"password":["${SECRET}","${SECRET}"]}`],
  ['a list of device tokens', `{"deviceTokens": [ "${SECRET}" ]}`],
  ['a nested object', `{"auth":{"user":"${SECRET}","more":[{"pass":"${SECRET}"}]}}`],
  ['an escaped name', `{"pass\\u0077ord":"${SECRET}"}`],
  ['a value without a closing quote', `{"token":"${SECRET}`],
  ['a name with a space', `{"access token" : "${SECRET}"}`],
  ['a number', '{"token":918273645}'],
  ['a negative number in an array', '{"secret":[-918273645]}'],
  ['JSON in a string', JSON.stringify({ text: `{"token":"${SECRET}"}` })],
  ['JSON in a string, escaped twice', JSON.stringify([JSON.stringify([`{"token":"${SECRET}"}`])])],
  ['a header in a HAR', `[{"name":"Authorization","value":"${SECRET}"}]`],
  ['an object printed by Node', `expected { apiKey: '${SECRET}', a: 1 }`],
  ['a query parameter', `/v1/messages?sig=${SECRET}&page=1`],
  ['a query parameter with an encoded name', `/v1/messages?tok%65n=${SECRET}`],
  ['a parameter with brackets in its name', `user[password]=${SECRET}`],
  ['a form', `name=ada&x-vercel-protection-bypass=${SECRET}`],
  ['a cookie', `theme=dark; access_token=${SECRET}`],
  ['a connection string', `Server=db;Pwd=${SECRET};Port=1`],
  ['an XML attribute', `<smtp password="${SECRET}">`],
  ['a password in a URL', `postgres://ada:${SECRET}@db/shop`],
  ['a token as the user name in a URL', `{"url":"https://${SECRET}@example.com/"}`],
  ['a bearer token', `failed with Bearer ${SECRET}`],
  ['a JSON Web Token', `the value is ${JWT}.`],
  ['a JSON Web Token in a path', `/reset/${JWT}/confirm`],
  ['a private key', `key:\n${PEM}\n`],
  ['a private key in JSON', JSON.stringify({ pem: PEM })],
  ['a URL in JSON with an escaped ampersand', `{"u":"https://a/?a=1\\u0026token=${SECRET}"}`],
  ['a parameter after a colon', `failed:token=${SECRET}`],
  ['an argument of a command', `curl --data token=${SECRET} -u=a`],
  ['a header on a line of its own', `sent\r\nX-Api-Key: ${SECRET}\r\n`],
  ['a field in YAML', `mail:\n  - password: "${SECRET}"`],
  ['a header of a curl command', `curl -H 'X-Api-Key: ${SECRET}' https://example.com`]
]

/** Matches part of every secret in `SECRET_TEXTS`. */
export const SECRET_PART = /hunter2|918273645|eyJhb|MIIEow/
