# What a program that links Stator needs: headers, libraries, find_package(stator) and pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(STATOR_INSTALLED base value vectors storage postgres open_store expression
  api_model api_validation api_json api_wire api_admin
  policy partiql transfer
  engine_errors engine_background engine_rows engine_change_log engine_vectors engine_catalog engine_core
  engine_items engine_query
  engine_streams engine_schema engine_jobs engine_admin engine_verify engine
  access testmode protocol client
  recipes_common recipes_toggle recipes_semaphore recipes_feed recipes_sensors)
# For the .pc file: the highest first, as a linker wants them.
set(pc_libraries ${STATOR_INSTALLED})
list(REVERSE pc_libraries)
list(TRANSFORM pc_libraries PREPEND -lstator_)
list(JOIN pc_libraries " " pc_libraries)
list(APPEND STATOR_INSTALLED api recipes)  # interfaces of their folders
list(TRANSFORM STATOR_INSTALLED PREPEND stator_)

add_library(stator_sdk INTERFACE)
target_link_libraries(stator_sdk INTERFACE stator_recipes stator_client)
# A program that only talks to a server does not load the storage engine.
target_link_options(stator_sdk INTERFACE LINKER:--as-needed)
target_compile_features(stator_sdk INTERFACE cxx_std_23)
set_target_properties(stator_sdk PROPERTIES EXPORT_NAME stator)

install(TARGETS ${STATOR_INSTALLED} stator_sdk EXPORT stator
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/stator DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stator)
install(EXPORT stator NAMESPACE stator:: FILE statorTargets.cmake DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/statorConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
# The prefix as seen from the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/stator.pc.in ${PROJECT_BINARY_DIR}/stator.pc @ONLY)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/statorConfig.cmake
  ${PROJECT_BINARY_DIR}/statorConfigVersion.cmake DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/stator.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
