# The slim image is enough for the build: the database addon includes its binaries, so nothing is compiled. Both stages must
# use the same Debian release and processor, because the build stage picks one of those binaries.
FROM node:24-bookworm-slim AS build
WORKDIR /app

# Copied first, so that an edit in src/ doesn't reinstall the packages.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund

COPY tsconfig.json ./
COPY scripts ./scripts
COPY migrations ./migrations
COPY seeds ./seeds
COPY src ./src
RUN npm run build
# Keep only the parts of the addon that are loaded: no sources, and no binaries for other machines.
RUN mkdir addon \
    && cd node_modules/better-sqlite3 \
    && cp -r --parents package.json LICENSE lib "prebuilds/linux-$(node -p process.arch).node" ../../addon

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    NOTIFICATION_MOCK_HOST=0.0.0.0 \
    NOTIFICATION_MOCK_DATA=/data/notification-mock.db
WORKDIR /app

# Mount a volume on /data to keep the data. There is no VOLUME instruction: each `docker run` would leave an anonymous
# volume, and in CI a container should start empty. Any `--user` may write to /data.
RUN mkdir /data && chown node:node /data && chmod 1777 /data

COPY LICENSE package.json llms.txt ./
COPY docs/*.md ./docs/
COPY migrations ./migrations
COPY seeds ./seeds
# Every package except the addon is bundled.
COPY --from=build /app/addon ./node_modules/better-sqlite3
COPY --from=build /app/dist ./dist

USER node
EXPOSE 4210
# Reads the port from NOTIFICATION_MOCK_PORT or PORT, like the server. Set one of these instead of --port.
HEALTHCHECK --interval=3s --timeout=3s --start-period=10s --retries=3 \
    CMD ["node", "dist/cli/index.js", "healthcheck"]
# Not started with npm, which swallows the signal that stops the server.
ENTRYPOINT ["node", "dist/cli/index.js"]
CMD ["serve"]
