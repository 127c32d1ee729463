module compatclients

go 1.19

require (
	github.com/gobwas/glob v0.2.3
	gopkg.in/ini.v1 v1.67.0
)
