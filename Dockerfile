# The slim image will do for the build too: the database addon brings its binaries along, so that nothing is compiled and
# nothing is fetched but packages. Both stages must be the same Debian and the same processor, as one of them is picked.
FROM node:24-bookworm-slim AS build
WORKDIR /app

# First what changes seldom, so that an edit in src/ does not install again.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund

COPY tsconfig.json ./
COPY scripts ./scripts
COPY migrations ./migrations
COPY seeds ./seeds
COPY src ./src
RUN npm run build
# Of the addon only what is loaded: no sources, no binaries for other machines.
RUN mkdir addon \
    && cd node_modules/better-sqlite3 \
    && cp -r --parents package.json LICENSE lib "prebuilds/linux-$(node -p process.arch).node" ../../addon

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    NOTIFICATION_MOCK_HOST=0.0.0.0 \
    NOTIFICATION_MOCK_DATA=/data/notification-mock.db
WORKDIR /app

# No VOLUME: it would leave an anonymous volume behind every `docker run`, and in CI a container should start empty.
# Mount something on /data to keep the data. Whoever `--user` names may write there too.
RUN mkdir /data && chown node:node /data && chmod 1777 /data

COPY LICENSE package.json llms.txt ./
COPY docs ./docs
COPY migrations ./migrations
COPY seeds ./seeds
# All packages but the addon are bundled.
COPY --from=build /app/addon ./node_modules/better-sqlite3
COPY --from=build /app/dist ./dist

USER node
EXPOSE 4210
# It asks at the port that NOTIFICATION_MOCK_PORT or PORT names, as the server does: set it so, not by --port.
HEALTHCHECK --interval=3s --timeout=3s --start-period=10s --retries=3 \
    CMD ["node", "dist/cli/index.js", "healthcheck"]
# Never npm in front: it would keep the signal that stops the server.
ENTRYPOINT ["node", "dist/cli/index.js"]
CMD ["serve"]
